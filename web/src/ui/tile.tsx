import type { ReactNode } from "react";

/** One figure, large, and what it is to be compared with. */
export function Tile({ name, value, children }: { name: string; value: ReactNode; children?: ReactNode }) {
  return (
    <div className="tile">
      <span className="name">{name}</span>
      <span className="value">{value}</span>
      {children}
    </div>
  );
}

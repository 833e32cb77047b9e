import type { ReactNode } from "react";

/** One large figure and what to compare it with. */
export function Tile({ name, value, children }: { name: string; value: ReactNode; children?: ReactNode }) {
  return (
    <div className="tile">
      <span className="name">{name}</span>
      <span className="value">{value}</span>
      {children}
    </div>
  );
}

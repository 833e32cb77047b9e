import type { ReactNode } from "react";

/** There is nothing: `title` says what is not there, the rest what to do next. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

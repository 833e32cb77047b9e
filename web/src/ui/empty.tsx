import type { ReactNode } from "react";

/** A placeholder for missing content: `title` says what is missing, the rest what to do next. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

import type { ReactNode } from "react";
import "./sign-in.css";

/** The page before one is in: one form in the middle. */
export function Gate({ title, onSubmit, children }: { title: string; onSubmit: () => void; children: ReactNode }) {
  return (
    <main className="gate">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
      >
        <div className="brand">
          <img src="/console/icon.svg" alt="" />
          Touchpoint
        </div>
        <h1>{title}</h1>
        {children}
      </form>
    </main>
  );
}

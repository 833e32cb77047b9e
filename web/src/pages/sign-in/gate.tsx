import type { ReactNode } from "react";
import { Brand } from "../../ui/brand.tsx";
import "./sign-in.css";

/** The layout of the sign-in pages: one form in the middle. */
export function Gate({ title, onSubmit, children }: { title: string; onSubmit: () => void; children: ReactNode }) {
  return (
    <main className="gate">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
      >
        <Brand />
        <h1>{title}</h1>
        {children}
      </form>
    </main>
  );
}

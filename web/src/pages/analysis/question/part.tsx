import type { ReactNode } from "react";

/** A part of a question, with a title and what it is for. */
export function Part({ title, about, children }: { title: string; about: string; children: ReactNode }) {
  return (
    <section className="stack tight question-part" aria-label={title}>
      <h3>{title}</h3>
      <p className="soft small">{about}</p>
      {children}
    </section>
  );
}

import type { ReactNode } from "react";

/** The title of a page, its purpose and its actions. */
export function PageHead({ title, about, children }: { title: string; about?: ReactNode; children?: ReactNode }) {
  return (
    <header className="row apart">
      <div>
        <h1>{title}</h1>
        {about && <p className="soft">{about}</p>}
      </div>
      <div className="row">{children}</div>
    </header>
  );
}

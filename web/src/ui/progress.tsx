import type { ReactNode } from "react";
import { useTexts } from "../texts.ts";
import { texts } from "./texts.ts";

/** A progress bar; `share` is between 0 and 1, or missing if the progress is unknown. */
export function Progress({ label, share }: { label?: ReactNode; share?: number }) {
  const text = useTexts(texts);
  const shown = label ?? text.loading;
  return (
    <div className="progress late" role="status">
      <progress
        aria-label={typeof shown === "string" ? shown : text.loading}
        {...(share === undefined ? {} : { value: share })}
      />
      <span className="small">{shown}</span>
    </div>
  );
}

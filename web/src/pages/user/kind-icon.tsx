import type { TimelineKind } from "../../../../src/contract/admin/admin-user.ts";

/** SVG paths on a 16 × 16 grid. */
const PATHS: Readonly<Record<TimelineKind, string>> = {
  event: "M9 1.5 3.5 9H8l-1 5.5L12.5 7H8z",
  order: "M4.5 2.5h7v11l-1.75-1.2L8 13.5l-1.75-1.2L4.5 13.5zM6.5 5.5h3M6.5 8h3",
  refund: "M4.5 2.5h7v11l-1.75-1.2L8 13.5l-1.75-1.2L4.5 13.5zM9.5 7h-3M7.75 5.5 6.25 7l1.5 1.5",
  postback: "M13.5 2.5 7 9M13.5 2.5 9.5 13.5 7 9 2.5 6.5z",
  touch: "M6 14 3.5 9.5c-.6-1.2.8-1.9 1.5-1l1 1.2V3a1 1 0 0 1 2 0v4l3.5.7c.8.2 1.2.9 1 1.7L11.5 14z",
  registration: "M8 8a2.75 2.75 0 1 0 0-5.5A2.75 2.75 0 0 0 8 8zM2.5 13.5c.6-2.4 2.8-3.5 5.5-3.5s4.9 1.1 5.5 3.5z",
  return: "M5.5 3 2.5 6l3 3M2.5 6h7a4 4 0 0 1 0 8H6",
};

export function KindIcon({ kind }: { kind: TimelineKind }) {
  return (
    <svg className={`kind-icon ${kind}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={PATHS[kind]} />
    </svg>
  );
}

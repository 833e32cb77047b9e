import type { HealthAnswer } from "../../../../src/contract/admin/health.ts";
import { useAppName } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { useTexts } from "../../texts.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { texts } from "./refused-texts.ts";

type Refused = HealthAnswer["refused"][number];

/** Apps that send more than their budget or their share. Hidden when there are none. */
export function RefusedCalls({ refused }: { refused: readonly Refused[] }) {
  const text = useTexts(texts);
  const { number, instant } = useFormat();
  const nameOf = useAppName();
  if (refused.length === 0) return null;
  const columns: Column<Refused>[] = [
    { name: "app", title: text.app, cell: ({ app_id }) => (app_id === 0 ? text.noApp : nameOf(app_id)) },
    { name: "reason", title: text.reason, cell: ({ reason }) => text.reasons[reason] },
    { name: "calls", title: text.calls, kind: "number", cell: ({ calls }) => number(calls) },
    { name: "last", title: text.last, cell: ({ last_at_ms }) => instant(last_at_ms) },
  ];
  return (
    <section className="stack tight">
      <h2>{text.title}</h2>
      <p className="soft">{text.about}</p>
      <DataTable
        label={text.title}
        columns={columns}
        rows={refused}
        keyOf={({ app_id, reason }) => `${app_id} ${reason}`}
      />
    </section>
  );
}

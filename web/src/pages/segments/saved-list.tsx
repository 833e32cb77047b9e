import { Link } from "wouter";
import type { ShownSegment, ShownSegments } from "../../../../src/contract/analysis/saved-segment.ts";
import { SEGMENTS } from "../../analysis/saved-segments.tsx";
import { useAppQuery } from "../../app-query.ts";
import { useApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { useTexts } from "../../texts.ts";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { texts } from "./texts.ts";

/** The segments of the app; a name opens one. */
export function SavedList() {
  const text = useTexts(texts);
  const { instant } = useFormat();
  const { app_id, time_zone } = useApp();
  const query = useAppQuery<ShownSegments>(SEGMENTS);
  return (
    <QueryView query={query}>
      {({ segments }) => (
        <DataTable<ShownSegment>
          label={text.saved}
          rows={segments}
          keyOf={({ segment_id }) => segment_id}
          empty={
            <Empty title={text.none}>
              <p>{text.noneHelp}</p>
            </Empty>
          }
          columns={[
            {
              name: "name",
              title: text.name,
              cell: (segment) => (
                <Link
                  href={`/segments?${new URLSearchParams({ app: String(app_id), segment: String(segment.segment_id) })}`}
                >
                  {segment.name}
                </Link>
              ),
            },
            { name: "owner", title: text.owner, cell: ({ owner }) => owner },
            { name: "changed", title: text.changed, cell: ({ changed_at }) => instant(changed_at, time_zone) },
            { name: "views", title: text.views, kind: "number", cell: ({ views }) => views },
          ]}
        />
      )}
    </QueryView>
  );
}

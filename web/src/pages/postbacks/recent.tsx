import type { RecentPostbacks } from "../../../../src/contract/setting/postback.ts";
import { useAppQuery } from "../../app-query.ts";
import { useFormat } from "../../format.ts";
import { useMay } from "../../may.ts";
import { usePlatformName } from "../../report/platform-name.ts";
import { RESENDABLE } from "../../report/postback-status.ts";
import { useTexts } from "../../texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { TONES, useEventWords } from "./event-texts.ts";
import type { ResendWish } from "./resend.tsx";
import { texts } from "./texts.ts";

const REFRESH_MS = 15_000;

type Reason = RecentPostbacks["reasons"][number];
type RecentProps = { onShow: (status: string) => void; onResend: (wish: ResendWish) => void };

/** The outcomes of the last day's postbacks. */
export function Recent({ onShow, onResend }: RecentProps) {
  const recent = useAppQuery<RecentPostbacks>("postback/recent", { refetchInterval: REFRESH_MS });
  return (
    <QueryView query={recent}>
      {(data) => (
        <>
          <Statuses data={data} onShow={onShow} />
          {data.reasons.length > 0 && <Reasons reasons={data.reasons} onResend={onResend} />}
        </>
      )}
    </QueryView>
  );
}

function Statuses({ data, onShow }: { data: RecentPostbacks; onShow: RecentProps["onShow"] }) {
  const text = useTexts(texts);
  const words = useEventWords();
  const { number } = useFormat();
  return (
    <div className="tiles statuses">
      {data.statuses.map(({ status, postbacks }) => (
        <button key={status} type="button" className="tile status-tile" onClick={() => onShow(String(status))}>
          <span className="name">{words.status(status)}</span>
          <span className="value">{number(postbacks)}</span>
          <span className="soft small">{text.recent(data.hours)}</span>
        </button>
      ))}
    </div>
  );
}

function Reasons({ reasons, onResend }: { reasons: readonly Reason[]; onResend: RecentProps["onResend"] }) {
  const text = useTexts(texts);
  const words = useEventWords();
  const { number } = useFormat();
  const platformName = usePlatformName();
  const mayChange = useMay("operate");
  const { reasonColumns: titles } = text;
  const columns: Column<Reason>[] = [
    {
      name: "status",
      title: titles.status,
      cell: ({ status }) => <Badge tone={TONES[status] ?? "plain"}>{words.status(status)}</Badge>,
    },
    { name: "platform", title: titles.platform, cell: ({ ad_platform }) => platformName(ad_platform) },
    { name: "reason", title: titles.reason, cell: ({ reason }) => words.reason(reason) },
    { name: "postbacks", kind: "number", title: titles.postbacks, cell: ({ postbacks }) => number(postbacks) },
  ];
  if (mayChange) {
    columns.push({
      name: "actions",
      title: titles.actions,
      cell: ({ status, ad_platform, reason }) =>
        RESENDABLE.includes(status) &&
        ad_platform !== "" && (
          <Button size="small" onClick={() => onResend({ kind: "ended", status, ad_platform, reason })}>
            {text.resend}
          </Button>
        ),
    });
  }
  return (
    <details className="card reasons">
      <summary>{text.reasons(reasons.length)}</summary>
      <DataTable
        label={text.reasons(reasons.length)}
        columns={columns}
        rows={reasons}
        keyOf={({ status, ad_platform, reason }) => `${status} ${ad_platform} ${reason}`}
      />
    </details>
  );
}

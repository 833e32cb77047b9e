import type { PostbackLane, PostbackState } from "../../../../src/contract/setting/postback.ts";
import { useAppQuery } from "../../app-query.ts";
import { useFormat } from "../../format.ts";
import { usePlatformName } from "../../report/platform-name.ts";
import { useTexts } from "../../texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { useEventWords } from "./event-texts.ts";
import { texts } from "./queue-texts.ts";

const REFRESH_MS = 5_000;

/** Where postbacks go: an account at a platform, or a callback. */
type Channel = {
  key: string;
  platform: string;
  advertiser: string;
  isOn: boolean;
  lane: PostbackLane | undefined;
  error: string;
  errorAt: string;
};

/** The waiting postbacks of each destination, and the destinations that are down. */
export function Queue() {
  const text = useTexts(texts);
  const state = useAppQuery<PostbackState>("postback/status", { refetchInterval: REFRESH_MS });
  return (
    <>
      <p className="soft">{text.about}</p>
      <QueryView query={state}>{(data) => <QueueTable channels={channelsOf(data)} />}</QueryView>
    </>
  );
}

/** All accounts, and every other destination with waiting postbacks. */
function channelsOf({ accounts, lanes }: PostbackState): Channel[] {
  const laneTo = new Map(lanes.map((lane) => [lane.to, lane]));
  const channels = accounts.map(({ ad_platform, advertiser_id, postbacks, last_error, last_error_at }): Channel => {
    const key = `${ad_platform} ${advertiser_id}`.trimEnd();
    const lane = laneTo.get(key);
    laneTo.delete(key);
    return {
      key,
      platform: ad_platform,
      advertiser: advertiser_id,
      isOn: postbacks === "on",
      lane,
      error: last_error,
      errorAt: last_error_at,
    };
  });
  const others = [...laneTo.values()].map((lane): Channel => {
    const [platform = "", advertiser = ""] = lane.to.split(" ");
    return { key: lane.to, platform, advertiser, isOn: true, lane, error: "", errorAt: "" };
  });
  return [...channels, ...others];
}

function QueueTable({ channels }: { channels: readonly Channel[] }) {
  const text = useTexts(texts);
  const { number } = useFormat();
  const platformName = usePlatformName();
  const words = useEventWords();
  const { columns: titles } = text;
  const columns: Column<Channel>[] = [
    {
      name: "to",
      title: titles.to,
      cell: ({ platform, advertiser }) => (
        <div className="nowrap">
          <strong>{platform.startsWith("$") ? words.eventType(platform) : platformName(platform)}</strong>
          <div className="soft small mono">{advertiser || (platform.startsWith("$") ? "" : text.allAdvertisers)}</div>
        </div>
      ),
    },
    { name: "state", title: titles.state, cell: (channel) => <ChannelState channel={channel} /> },
    {
      name: "waiting",
      kind: "number",
      title: titles.waiting,
      cell: ({ lane }) => number(lane?.waiting ?? 0),
    },
    {
      name: "flying",
      kind: "number",
      title: titles.inFlight,
      cell: ({ lane }) => number(lane?.in_flight ?? 0),
    },
    {
      name: "due",
      title: titles.firstDue,
      cell: ({ lane }) => <span className="nowrap">{lane?.first_due_at}</span>,
    },
  ];
  return (
    <DataTable
      label={text.table}
      columns={columns}
      rows={channels}
      keyOf={({ key }) => key}
      empty={
        <Empty title={text.none}>
          <p>{text.noneHelp}</p>
        </Empty>
      }
    />
  );
}

function ChannelState({ channel: { isOn, lane, error, errorAt } }: { channel: Channel }) {
  const text = useTexts(texts);
  if (!isOn) return <Badge>{text.off}</Badge>;
  if (lane && lane.paused_until !== "") {
    return (
      <div>
        <Badge tone="bad">{text.paused}</Badge>
        <div className="small soft">{text.pausedUntil(lane.paused_until, lane.failures)}</div>
      </div>
    );
  }
  if (error !== "") {
    return (
      <div className="outcome">
        <Badge tone="warn">{text.trouble}</Badge>
        <div className="small soft">
          {error} ({errorAt})
        </div>
      </div>
    );
  }
  return <Badge tone="good">{lane ? text.sending : text.works}</Badge>;
}

import type { ReactNode } from "react";
import { Link } from "wouter";
import type { TimelineItem } from "../../../../src/contract/admin/admin-user.ts";
import { useApp } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { usePlatformName } from "../../report/platform-name.ts";
import { useTexts } from "../../texts.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { listAddress } from "../lists/list-state.ts";
import { attributionTexts } from "./attribution-texts.ts";
import { Facts, jsonText } from "./facts.tsx";
import { KindIcon } from "./kind-icon.tsx";
import { texts } from "./texts.ts";

type Of<Kind extends TimelineItem["kind"]> = Extract<TimelineItem, { kind: Kind }>;
type EntryProps = { item: TimelineItem; currency: string };

export function TimelineEntry({ item, currency }: EntryProps) {
  return (
    <li className="timeline-entry">
      <time className="mono small soft" dateTime={new Date(item.at_ms).toISOString()}>
        {item.at.slice(11)}
      </time>
      <KindIcon kind={item.kind} />
      <div className="grow">{contentOf(item, currency)}</div>
    </li>
  );
}

function contentOf(item: TimelineItem, currency: string): ReactNode {
  switch (item.kind) {
    case "event":
      return <EventContent item={item} currency={currency} />;
    case "order":
      return <OrderContent item={item} currency={currency} />;
    case "refund":
      return <RefundContent item={item} currency={currency} />;
    case "postback":
      return <PostbackContent item={item} />;
    case "touch":
      return <TouchContent item={item} />;
    case "registration":
    case "return":
      return <ArrivalContent item={item} />;
  }
}

type LineProps = { title: ReactNode; badge?: ReactNode; details?: readonly (string | false)[]; children?: ReactNode };

function Line({ title, badge, details = [], children }: LineProps) {
  const words = details.filter(Boolean).join(" · ");
  return (
    <>
      <div className="row">
        <strong>{title}</strong>
        {badge}
        {words && <span className="soft">{words}</span>}
      </div>
      {children}
    </>
  );
}

/** Properties shown until the entry is unfolded. */
const PROPERTIES_SHOWN = 4;

function EventContent({ item, currency }: { item: Of<"event">; currency: string }) {
  const text = useTexts(texts);
  const { ad_revenue: revenue } = item;
  return (
    <Properties properties={item.properties}>
      <strong className="mono">{item.event}</strong>
      {item.type === "profile" && <Badge>{text.item.profile}</Badge>}
      {revenue && <Badge>{text.item.adRevenue[revenue.origin](`${revenue.amount} ${currency}`)}</Badge>}
    </Properties>
  );
}

/** The first few properties beside the event's name, those sent by the app itself before the standard ones. */
function Properties({ properties, children }: { properties: Of<"event">["properties"]; children?: ReactNode }) {
  const text = useTexts(texts);
  const all = Object.entries(properties);
  if (all.length === 0) return <div className="row">{children}</div>;
  const isPreset = ([name]: [string, unknown]) => name.startsWith("$");
  const first = [...all.filter((one) => !isPreset(one)), ...all.filter(isPreset)].slice(0, PROPERTIES_SHOWN);
  return (
    <details className="properties">
      <summary>
        {children}
        <span className="soft small">
          {first.map(([name, value]) => `${name}: ${jsonText(value)}`).join(" · ")}
          {all.length > first.length && ` · ${text.details(all.length)}`}
        </span>
      </summary>
      <Facts facts={all.map(([name, value]) => [name, jsonText(value)] as const)} />
    </details>
  );
}

const ORDER_TONES: readonly Tone[] = ["plain", "good", "bad", "plain"];

function OrderContent({ item, currency }: { item: Of<"order">; currency: string }) {
  const text = useTexts(texts);
  const { cents, number } = useFormat();
  return (
    <Line
      title={text.item.paid(`${cents(item.cents)} ${currency}`)}
      badge={
        <Badge tone={ORDER_TONES[item.postback_status] ?? "plain"}>{text.orderStatuses[item.postback_status]}</Badge>
      }
      details={[
        text.item.nth(number(item.pay_count)),
        item.is_virtual === 1 && text.item.virtual,
        item.refunded_cents > 0 && text.item.refunded(cents(item.refunded_cents), cents(item.net_cents)),
      ]}
    >
      <Properties properties={item.properties}>
        <OrderLink traceId={item.trace_id} />
      </Properties>
    </Line>
  );
}

function OrderLink({ traceId }: { traceId: string }) {
  const { app_id } = useApp();
  return (
    <Link className="mono small" href={listAddress("orders", app_id, { event: { TraceID: [traceId] } })}>
      {traceId}
    </Link>
  );
}

function RefundContent({ item, currency }: { item: Of<"refund">; currency: string }) {
  const text = useTexts(texts);
  const { cents } = useFormat();
  return (
    <Line
      title={text.item.refund(`${cents(item.cents)} ${currency}`)}
      details={[text.item.ofOrder(cents(item.order_cents), cents(item.net_cents))]}
    >
      <OrderLink traceId={item.trace_id} />
    </Line>
  );
}

const POSTBACK_TONES: readonly Tone[] = ["warn", "good", "bad", "plain"];

function PostbackContent({ item }: { item: Of<"postback"> }) {
  const text = useTexts(texts);
  const { cents } = useFormat();
  const platformName = usePlatformName();
  const isOwn = item.event_type.startsWith("$");
  return (
    <Line
      title={isOwn ? text.item.callback : text.item.postback(item.event_type)}
      badge={<Badge tone={POSTBACK_TONES[item.status] ?? "plain"}>{text.statuses[item.status]}</Badge>}
      details={[
        item.ad_platform !== "" && text.item.to(platformName(item.ad_platform)),
        item.value_cents !== null && text.item.value(cents(item.value_cents)),
        item.attempts > 0 && text.item.attempts(item.attempts),
        item.resent > 0 && text.item.resent(item.resent),
        item.refunded_cents > 0 && text.item.orderRefunded(cents(item.refunded_cents)),
        item.reason !== "" && (text.skips[item.reason] ?? item.reason),
      ]}
    />
  );
}

function TouchContent({ item }: { item: Of<"touch"> }) {
  const text = useTexts(texts);
  const words = useTexts(attributionTexts);
  const platformName = usePlatformName();
  const tone: Tone = item.outcome === "won" ? "good" : "plain";
  return (
    <Line
      title={`${text.item[item.touch_kind]} · ${platformName(item.ad_platform)}`}
      badge={<Badge tone={tone}>{item.outcome === "" ? text.item.notJudged : words.outcomes[item.outcome]}</Badge>}
      details={[
        item.campaign !== "" && `${text.campaign} ${item.campaign}`,
        item.aid !== "" && `${text.ad} ${item.aid}`,
        item.flags.length > 0 && item.flags.map((flag) => words.flags[flag]).join(", "),
      ]}
    />
  );
}

function ArrivalContent({ item }: { item: Of<"registration"> | Of<"return"> }) {
  const text = useTexts(texts);
  const { methods } = useTexts(attributionTexts);
  const platformName = usePlatformName();
  const source =
    item.ad_platform === ""
      ? text.item.organicNow
      : text.item.attributed(platformName(item.ad_platform), methods[item.method]);
  return (
    <Line
      title={text.item[item.kind]}
      badge={<Badge tone={item.ad_platform === "" ? "plain" : "accent"}>{source}</Badge>}
      details={
        item.kind === "registration"
          ? [item.channel, text.item.version(String(item.version)), item.is_history && text.history]
          : [item.campaign !== "" && `${text.campaign} ${item.campaign}`]
      }
    />
  );
}

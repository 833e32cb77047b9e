import type { ReactNode } from "react";
import type { UserView } from "../../../../src/contract/admin/admin-user.ts";
import { useFormat } from "../../format.ts";
import { usePlatformName } from "../../report/platform-name.ts";
import { useTexts } from "../../texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { CopyButton } from "../../ui/copy-block.tsx";
import { Tile } from "../../ui/tile.tsx";
import { texts } from "./texts.ts";

/** The user's name, registration, source and value. */
export function UserHead({ user, children }: { user: UserView; children: ReactNode }) {
  const text = useTexts(texts);
  const { record, source } = user;
  const platformName = usePlatformName();
  const isOrganic = source.ad_platform === "natural";
  const campaign = source.campaign_name || source.turbo_promoted_object_id;
  return (
    <>
      <header className="row apart user-head">
        <div className="stack tight">
          <div className="row">
            <h1 className="user-id">{record.ClientID}</h1>
            <CopyButton value={record.ClientID} />
          </div>
          <p className="soft">
            {[
              record.Name,
              `${user.is_registered ? text.registered : text.firstSeen} ${record.CreateTime}`,
              user.latest_event_at && `${text.lastEvent} ${user.latest_event_at}`,
            ]
              .filter(Boolean)
              .join(" · ")}
          </p>
          <div className="row">
            <Badge tone={isOrganic ? "plain" : "accent"}>{platformName(source.ad_platform)}</Badge>
            {campaign && <Badge>{campaign}</Badge>}
            {user.os_platform !== "unknown" && <Badge>{user.os_platform}</Badge>}
            {user.is_history && <Badge tone="warn">{text.history}</Badge>}
            {!user.is_registered && <Badge tone="warn">{text.unregistered}</Badge>}
          </div>
        </div>
        <div className="row">{children}</div>
      </header>
      <Figures user={user} />
    </>
  );
}

function Figures({ user: { record, counts, currency } }: { user: UserView }) {
  const text = useTexts(texts);
  const { number, cents } = useFormat();
  const [waiting = 0, accepted = 0, failed = 0, skipped = 0] = counts.postbacks;
  return (
    <div className="tiles">
      <Tile name={text.paid(currency)} value={cents(record.user$pay_amount_sum)}>
        <span className="soft small">{text.payments(record.user$pay_count, number(record.user$pay_count))}</span>
      </Tile>
      <Tile name={text.adRevenue(currency)} value={number(record.user$ad_ltv)}>
        <span className="soft small">{text.adsShown(record.user$ad_count, number(record.user$ad_count))}</span>
      </Tile>
      <Tile name={text.events} value={number(counts.track_events)}>
        <span className="soft small">{text.activeDays(counts.active_days, number(counts.active_days))}</span>
      </Tile>
      <Tile name={text.postbacks} value={number(accepted)}>
        <span className="soft small">{text.postbacksOther(number(waiting), number(failed), number(skipped))}</span>
      </Tile>
    </div>
  );
}

import { useQuery } from "@tanstack/react-query";
import type { UserView } from "../../../../src/contract/admin/admin-user.ts";
import type { ExplainedDecision, Explanation } from "../../../../src/contract/admin/why.ts";
import { get } from "../../api.ts";
import { useApp } from "../../chosen-app.tsx";
import { usePlatformName } from "../../report/platform-name.ts";
import { useTexts } from "../../texts.ts";
import { Badge } from "../../ui/badge.tsx";
import { SelectField } from "../../ui/field.tsx";
import { QueryView } from "../../ui/query-view.tsx";
import { useUrlState } from "../../url-state.ts";
import { attributionTexts } from "./attribution-texts.ts";
import { Candidates } from "./candidates.tsx";
import { Facts, jsonText } from "./facts.tsx";
import { sourceTexts } from "./source-texts.ts";
import { texts } from "./texts.ts";

/** The user's source, and why the server decided so. */
export function Source({ clientId, user }: { clientId: string; user: UserView }) {
  const { app_id } = useApp();
  const [{ decision }, change] = useUrlState({ decision: "" });
  const query = useQuery({
    queryKey: ["why", app_id, clientId],
    queryFn: ({ signal }) => get<Explanation>("attribution/why", { app_id, client_id: clientId }, signal),
  });
  return (
    <QueryView query={query}>
      {(explanation) => {
        const chosen = explanation.decisions.find(({ number }) => String(number) === decision) ?? explanation;
        return (
          <>
            <div className="grid">
              <Verdict explanation={explanation} chosen={chosen} onChoose={(number) => change({ decision: number })} />
              <Ad source={user.source} />
            </div>
            <Candidates decision={chosen} />
          </>
        );
      }}
    </QueryView>
  );
}

type VerdictProps = { explanation: Explanation; chosen: ExplainedDecision; onChoose: (number: string) => void };

function Verdict({ explanation, chosen, onChoose }: VerdictProps) {
  const text = useTexts(sourceTexts);
  const words = useTexts(attributionTexts);
  const platformName = usePlatformName();
  const { decisions } = explanation;
  const named = ({ number }: { number: number }) =>
    [number === 1 ? text.onRegistration : text.onReturn(number - 1), number === explanation.number && text.holds]
      .filter(Boolean)
      .join(" · ");
  return (
    <section className="card stack tight">
      <h2>
        {chosen.verdict === "attributed"
          ? text.verdictAttributed(platformName(chosen.platform), words.methods[chosen.method])
          : chosen.number === 0
            ? text.undecided
            : text.verdictOrganic}
      </h2>
      <ul className="sentences">
        <li>{chosen.number > 1 ? text.returnedAt(chosen.at) : text.registeredAt(chosen.at)}</li>
        <li>
          {chosen.keys.length > 0
            ? text.knownBy(chosen.keys.map((key) => words.keys[key] ?? key).join(", "))
            : text.knownByNothing}
        </li>
        {chosen.reported !== null && (
          <li>
            {chosen.reported === "" ? text.reportedOrganic : text.reportedPlatform(platformName(chosen.reported))}
          </li>
        )}
        {chosen.reported === null && chosen.launch !== null && <li>{text.launchNames(platformName(chosen.launch))}</li>}
      </ul>
      {chosen.flags.length > 0 && (
        <div className="row">
          <span className="soft">{text.suspicious}:</span>
          {[...new Set(chosen.flags)].map((flag) => (
            <Badge key={flag} tone="warn">
              {words.flags[flag]}
            </Badge>
          ))}
        </div>
      )}
      {decisions.length > 1 && (
        <SelectField
          label={text.decision}
          value={String(chosen.number)}
          choices={decisions.map((one) => ({ value: String(one.number), label: `${one.at} ${named(one)}` }))}
          onChange={onChoose}
        />
      )}
    </section>
  );
}

function Ad({ source }: { source: UserView["source"] }) {
  const text = useTexts(texts);
  const { methods } = useTexts(attributionTexts);
  const platformName = usePlatformName();
  const named = (id: string, name: string) => (name === "" ? id : `${name} · ${id}`);
  const adData = Object.entries(source.ad_data);
  return (
    <section className="card">
      <Facts
        facts={[
          [text.platform, platformName(source.ad_platform)],
          [text.foundBy, source.method === "" ? "" : methods[source.method]],
          [text.touchedAt, source.touched_at],
          [text.campaign, named(source.turbo_promoted_object_id, source.campaign_name)],
          [text.account, named(source.advertiser_id, source.advertiser_name)],
          [text.plan, named(source.gid, source.gid_name)],
          [text.ad, named(source.aid, source.aid_name)],
          [text.creative, source.cid],
          [text.placement, source.csite],
        ]}
      />
      {adData.length > 0 && (
        <details className="properties">
          <summary className="soft small">{text.adData}</summary>
          <Facts facts={adData.map(([name, value]) => [name, jsonText(value)] as const)} />
        </details>
      )}
    </section>
  );
}

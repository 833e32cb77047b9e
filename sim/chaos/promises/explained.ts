import type { ExplainedCandidate } from "../../../src/contract/admin/why.ts";
import { calendarOf } from "../../../src/domain/calendar.ts";
import { isRight } from "../../score/attribution-score.ts";
import { type Audit, isCertain, type Known } from "./audited.ts";

const ASKED_AT_ONCE = 8;

type Why = {
  verdict: "attributed" | "organic";
  method: string;
  platform: string;
  touch: ExplainedCandidate | null;
  candidates: ExplainedCandidate[];
};

/** Promise 10: everyone has a decision, the right one where the truth is certain, and new people have an explanation. */
export async function explained(given: Audit): Promise<void> {
  const { site, findings, people, newcomers } = given;
  const { rows } = await site.pool.query(
    `select client_id from user_account u where app_id = $1 and is_registered and not exists (
       select 1 from attribution_decision d where d.app_id = u.app_id and d.client_id = u.client_id)`,
    [site.operator.app.appId],
  );
  findings.none(10, "users have no decision", rows);
  findings.none(
    10,
    "people are attributed wrongly",
    people.filter((one) => isCertain(given, one) && !isAsItWas(one)).map(shown),
  );
  const left = [...newcomers];
  const ask = async () => {
    for (let one = left.pop(); one; one = left.pop()) {
      const query = { app_id: String(site.operator.app.appId), client_id: one.person.clientId };
      checkWhy(given, one, await site.operator.get<Why>("attribution/why", query));
    }
  };
  await Promise.all(Array.from({ length: ASKED_AT_ONCE }, ask));
}

function isAsItWas({ person, found }: Known): boolean {
  return person.source === null ? found.platform === "" : isRight({ person, found });
}

const shown = ({ person, found }: Known) =>
  `${person.clientId} (${person.method}) ${JSON.stringify(person.source)} is ${JSON.stringify(found)}`;

function checkWhy(given: Audit, known: Known, why: Why): void {
  const { site, findings } = given;
  const { person, found } = known;
  const { clientId } = person;
  findings.equal(10, `what is said of ${clientId}`, {
    is: [why.platform, why.method, why.verdict],
    should: [found.platform, found.method, found.platform === "" ? "organic" : "attributed"],
  });
  const winners = why.candidates.filter(({ outcome }) => outcome === "won");
  findings.equal(10, `winners for ${clientId}`, { is: winners.length, should: why.touch === null ? 0 : 1 });
  findings.none(
    10,
    `candidates of ${clientId} have no reason`,
    why.candidates.filter(({ reason }) => reason === ""),
  );
  if (!isCertain(given, known)) return;
  const calendar = calendarOf(site.timeZone);
  const named = new Set(why.candidates.map((one) => `${one.platform} ${one.kind} ${one.touched_at}`));
  findings.none(
    10,
    `touches of ${clientId} are no candidates`,
    person.touches.filter(
      ({ platform, touch, touchedAtMs }) => !named.has(`${platform} ${touch} ${calendar.textOf(touchedAtMs)}`),
    ),
  );
}

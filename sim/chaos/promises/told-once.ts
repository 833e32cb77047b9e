import { POSTBACK_STATUS } from "../../../src/domain/postback/postback.ts";
import { ANSWER_LOST } from "../../../src/postback/channel.ts";
import type { StandIn } from "../../platforms/stand-in.ts";
import { type Justified, judgePostbacks, type Told } from "../../score/postback-score.ts";
import { type Audit, isCertain } from "./audited.ts";

type Row = {
  clientId: string;
  platform: string;
  eventType: string;
  status: number;
  reason: string;
  cents: number | null;
};

/** Promise 6: the platforms accepted each conversion once, and the tables agree with the platforms. */
export async function toldOnce(given: Audit): Promise<void> {
  const { site, findings } = given;
  const rows = await loadPostbacks(given);
  const { byPlatform } = site.counterparts;
  for (const [platform, standIn] of Object.entries(byPlatform)) {
    agree(
      given,
      rows.filter((row) => row.platform === platform),
      { platform, standIn },
    );
  }
  const lost = rows.filter(isAnswerLost);
  findings.givenUp = lost.length;
  const certain = given.people.filter((one) => isCertain(given, one));
  const people = judgePostbacks({ byPlatform, timeZone: site.timeZone }, certain);
  const of = (name: string, list: (told: Told) => readonly unknown[]) =>
    findings.none(
      6,
      name,
      people.flatMap((told) => list(told).map((one) => `${told.person.clientId} ${JSON.stringify(one)}`)),
    );
  const excused = new Map(lost.map((row) => [keyOf(row.clientId, row.eventType, row.cents), row]));
  of("postbacks are missing", ({ person, missing }) =>
    missing.filter(({ told, cents }: Justified) => !excused.has(keyOf(person.clientId, told, cents))),
  );
  of("postbacks have a wrong amount", ({ wrongAmount }) => wrongAmount);
  of("postbacks have no cause", ({ unjustified }) => unjustified);
  of("postbacks were counted twice", ({ doubled }) => (doubled > 0 ? [doubled] : []));
}

async function loadPostbacks({ site }: Audit): Promise<Row[]> {
  const { rows } = await site.pool.query(
    `select client_id as "clientId", ad_platform as platform, event_type as "eventType", status, reason,
       value_cents::float8 as cents from postback where app_id = $1`,
    [site.operator.app.appId],
  );
  return rows;
}

function isAnswerLost({ status, reason }: Row): boolean {
  return status === POSTBACK_STATUS.givenUp && reason.endsWith(ANSWER_LOST);
}

const keyOf = (clientId: string, told: string, cents: number | null) => `${clientId} ${told} ${cents ?? ""}`;

/** Checks that the platforms accepted as many as the tables say, plus at most those whose answer was lost. */
function agree(
  { findings }: Audit,
  rows: readonly Row[],
  { platform, standIn }: { platform: string; standIn: StandIn },
): void {
  const counted = standIn.accepted.filter(({ isDuplicate }) => !isDuplicate).length;
  const accepted = rows.filter(({ status }) => status === POSTBACK_STATUS.accepted).length;
  const lost = rows.filter(isAnswerLost).length;
  findings.hold(
    6,
    counted >= accepted && counted <= accepted + lost,
    `${platform} has counted ${counted}, the tables say ${accepted} accepted and ${lost} lost`,
  );
  findings.none(
    6,
    `postbacks to ${platform} are neither accepted nor lost nor skipped`,
    rows.filter(
      (row) => row.status === POSTBACK_STATUS.waiting || (row.status === POSTBACK_STATUS.givenUp && !isAnswerLost(row)),
    ),
  );
}

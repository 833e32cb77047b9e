import { PROPERTIES, STORED_EVENTS } from "../../stored-events.ts";
import type { Audit } from "./audited.ts";

/** Promises 1 and 7: everything acknowledged is stored once, except what was destroyed, which is set aside. */
export async function everythingThere(given: Audit): Promise<void> {
  await eventsThere(given);
  await touchesThere(given);
  await peopleThere(given);
  await damageSetAside(given);
  const { site, findings } = given;
  findings.none(1, "wrong answers to clients", site.truth.complaints.splice(0));
}

async function eventsThere({ site, findings }: Audit): Promise<void> {
  const { rows } = await site.pool.query(
    `select ${PROPERTIES}->>'serial' as serial, count(*)::int as times from ${STORED_EVENTS} where e.app_id = $1 group by 1`,
    [site.operator.app.appId],
  );
  const times = new Map<string, number>(rows.map((row) => [row.serial, row.times]));
  const acknowledged = site.truth.people.flatMap(({ clientId, events }) =>
    events.map(({ serial }) => ({ serial, clientId })),
  );
  const missing = acknowledged.filter(({ serial }) => !times.has(serial));
  const lost = missing.filter(({ serial, clientId }) => !site.journal.isExcused(serial, clientId));
  const known = new Set(acknowledged.map(({ serial }) => serial));
  const doubled = [...times].filter(([, count]) => count > 1).map(([serial]) => serial);
  findings.lost = lost.length;
  findings.doubled = doubled.length;
  findings.destroyed = missing.length - lost.length;
  findings.none(
    1,
    "acknowledged events are missing",
    lost.map(({ serial }) => serial),
  );
  findings.none(1, "events are there twice", doubled);
  findings.none(
    1,
    "events are there that nobody has acknowledged",
    [...times.keys()].filter((serial) => !known.has(serial)),
  );
}

/** The platform's own id of a person's touch, as the links of all platforms carry it. */
const TOKEN = /(?:i?[ce]|old)p\d{6}[0-9a-f]{6}/g;

async function touchesThere({ site, findings }: Audit): Promise<void> {
  const { rows } = await site.pool.query(
    "select ad_platform, kind, details::text as details from touch where app_id = $1",
    [site.operator.app.appId],
  );
  const times = new Map<string, number>();
  for (const { ad_platform, kind, details } of rows) {
    for (const token of new Set<string>(details.match(TOKEN))) {
      const name = `${ad_platform} ${kind} ${token}`;
      times.set(name, (times.get(name) ?? 0) + 1);
    }
  }
  const acknowledged = site.truth.people
    .filter(({ clientId }) => !site.journal.struckPeople.has(clientId))
    .flatMap(({ touches }) => touches.map(({ platform, touch, token }) => `${platform} ${touch} ${token}`));
  findings.none(
    1,
    "acknowledged touches are missing",
    acknowledged.filter((name) => !times.has(name)),
  );
  findings.none(
    1,
    "touches are there twice",
    [...times].filter(([, count]) => count > 1).map(([name]) => name),
  );
}

async function peopleThere({ site, findings }: Audit): Promise<void> {
  const { rows } = await site.pool.query("select client_id, is_registered from user_account where app_id = $1", [
    site.operator.app.appId,
  ]);
  const stored = new Map<string, boolean>(rows.map((row) => [row.client_id, row.is_registered]));
  const { people } = site.truth;
  const isGone = (clientId: string) => site.journal.isUnregistered(clientId);
  findings.none(
    1,
    "acknowledged registrations are missing",
    people.map(({ clientId }) => clientId).filter((clientId) => !stored.get(clientId) && !isGone(clientId)),
  );
  const known = new Set(people.map(({ clientId }) => clientId));
  findings.none(
    1,
    "users are there whom nobody has registered",
    [...stored.keys()].filter((clientId) => !known.has(clientId) && !isGone(clientId)),
  );
}

/** Checks that exactly the destroyed ranges were set aside, where apply could still see them. */
async function damageSetAside({ site, findings }: Audit): Promise<void> {
  const { rows } = await site.pool.query(
    `select from_position::float8 as "from", until_position::float8 as "until", reason from set_aside order by 1`,
  );
  const { stretches, surprises } = site.journal;
  findings.equal(7, "stretches that are set aside", { is: joined(rows), should: joined(stretches) });
  findings.none(7, "stretches of the journal are damaged, though nobody has touched them", surprises);
  findings.none(
    7,
    "entries are set aside without a reason",
    rows.filter(({ reason }) => reason === ""),
  );
}

/** Merges adjacent ranges: neighbouring destroyed records cannot be told apart. */
function joined(stretches: readonly { from: number; until: number }[]): [number, number][] {
  const all: [number, number][] = [];
  for (const { from, until } of [...stretches].sort((left, right) => left.from - right.from)) {
    const last = all.at(-1);
    if (last && last[1] >= from) last[1] = Math.max(last[1], until);
    else all.push([from, until]);
  }
  return all;
}

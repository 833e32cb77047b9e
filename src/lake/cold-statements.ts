import type { ColdPage, ColdWish, GoneUser } from "../db/cold-event.ts";
import { REFUND_EVENT } from "../domain/refund.ts";
import { listOfFiles, quoted } from "./lake-statements.ts";

/** Events in files with the users whose rows no longer count. */
export type ColdSource = { files: readonly string[]; gone: readonly GoneUser[] };

/** The columns of a row as src/lake/cold-reader.ts takes them. */
const columnsWith = (properties: string) =>
  `client_id, "day"::varchar, epoch_ms("time"), replace(event_id::varchar, '-', ''), type, event, ${properties}, epoch_ms(received_time)`;
const COLUMNS = columnsWith("properties");

type Narrowed = Pick<ColdWish, "clientIds" | "names" | "type" | "propertiesOf">;

/** Rows of some users and names, or the newest ones before another. */
export function coldRows(source: ColdSource, narrowed: Narrowed, page?: ColdPage): string {
  const { clientIds, names, type, propertiesOf } = narrowed;
  const conditions = [
    ...(clientIds === undefined ? [] : [`client_id in (${clientIds.map(quoted).join(", ")})`]),
    ...(names === undefined ? [] : [`event in (${names.map(quoted).join(", ")})`]),
    ...(type === undefined ? [] : [`type = ${quoted(type)}`]),
    ...(page === undefined ? [] : [isBefore(page)]),
  ];
  const end = page === undefined ? "" : ` order by "time" desc, event_id desc limit ${page.limit}`;
  const columns = propertiesOf === undefined ? COLUMNS : columnsWith(propertiesFor(propertiesOf));
  return `select ${columns} from ${rowsOf(source)} where ${["true", ...conditions].join(" and ")}${end}`;
}

function propertiesFor(names: readonly string[]): string {
  if (names.length === 0) return "'{}'";
  return `case when event in (${names.map(quoted).join(", ")}) then properties else '{}' end`;
}

function isBefore({ before: { atMs, fingerprint } }: ColdPage): string {
  return `(epoch_ms("time") < ${atMs} or (epoch_ms("time") = ${atMs} and event_id < ${quoted(fingerprint)}::uuid))`;
}

/** Keys of events: user, day, instant, fingerprint. */
export function coldKeys(
  source: ColdSource,
  wanted: { clientIds: readonly string[]; fingerprints: readonly string[] },
): string {
  const fingerprints = wanted.fingerprints.map((one) => `${quoted(one)}::uuid`);
  return `select client_id, "day"::varchar, epoch_ms("time"), replace(event_id::varchar, '-', '') from ${rowsOf(source)}
    where client_id in (${wanted.clientIds.map(quoted).join(", ")}) and event_id in (${fingerprints.join(", ")})`;
}

export function coldDays(source: ColdSource, clientId: string): string {
  return `select distinct "day"::varchar from ${rowsOf(source)} where client_id = ${quoted(clientId)} order by 1`;
}

/** In the order of an export. */
export function coldInOrder(source: ColdSource): string {
  return `select ${COLUMNS} from ${rowsOf(source)} order by "time", client_id, event_id`;
}

const REGISTRATIONS = ["$AppRegister", "$MPRegister"];

/**
 * What reports by the hour need: all ads and registrations, and of anything else one event for each user and quarter of an
 * hour. Every local hour is made of whole quarters of UTC.
 */
export function coldActivity(source: ColdSource): string {
  const counted = ["$AdShow", ...REGISTRATIONS].map(quoted).join(", ");
  const tracks = `${rowsOf(source)} where type = 'track'`;
  return `select ${COLUMNS} from ${tracks} and event in (${counted})
    union all select client_id, "day"::varchar, epoch_ms(min("time")), replace(min(event_id)::varchar, '-', ''), 'track', min(event), '{}',
      epoch_ms(min(received_time))
    from ${tracks} and event not in (${counted}, ${quoted(REFUND_EVENT)})
    group by client_id, "day", epoch_ms("time") // 900000`;
}

/** Files of one day without the users who are gone, in the columns of a file. */
export function keptRows(names: string, files: readonly string[], gone: readonly GoneUser[]): string {
  const left =
    gone.length === 0 ? "" : ` where md5(client_id) not in (${gone.map(({ digest }) => quoted(digest)).join(", ")})`;
  return `select ${names} from read_parquet(${listOfFiles(files)}, hive_partitioning = false)${left}`;
}

function rowsOf({ files, gone }: ColdSource): string {
  const rows = `read_parquet(${listOfFiles(files)}, hive_partitioning = true, hive_types = {'app': INTEGER, 'day': DATE})`;
  if (gone.length === 0) return `(select * from ${rows})`;
  const keys = gone.map(({ day, digest }) => quoted(`${day} ${digest}`)).join(", ");
  return `(select * from ${rows} where ("day"::varchar || ' ' || md5(client_id)) not in (${keys}))`;
}

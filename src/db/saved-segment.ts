import type { JsonObject } from "../domain/json.ts";
import { type Executor, execute, query, sql } from "./engine/sql.ts";
import { type Stored, storedBy } from "./stored.ts";

/** A condition on users that somebody has saved under a name. */
export type SavedSegment = {
  segmentId: number;
  appId: number;
  /** The name of the person who saved it. */
  owner: string;
  name: string;
  /** As it was checked when it was saved. */
  condition: JsonObject;
  changedAtMs: number;
};

type SegmentKey = Pick<SavedSegment, "appId" | "segmentId">;

/** A segment by its id, or by its name. */
export type SegmentRef = number | string;

const columns = sql`segment_id, app_id, owner, name, condition, changed_at_ms`;

/** All segments of an app, by name. */
export async function loadSegments(executor: Executor, appId: number): Promise<SavedSegment[]> {
  return query<SavedSegment>(
    executor,
    sql`select ${columns} from saved_segment where app_id = ${appId} order by name, segment_id`,
  );
}

export async function findSegments(
  executor: Executor,
  { appId, wanted }: { appId: number; wanted: readonly SegmentRef[] },
): Promise<SavedSegment[]> {
  const ids = wanted.filter((one) => typeof one === "number");
  const names = wanted.filter((one) => typeof one === "string");
  return query<SavedSegment>(
    executor,
    sql`select ${columns} from saved_segment
      where app_id = ${appId} and (segment_id = any(${ids}::int[]) or name = any(${names}::text[]))`,
  );
}

export async function createSegment(
  executor: Executor,
  segment: Omit<SavedSegment, "segmentId">,
  segmentsMax: number,
): Promise<Stored<SavedSegment>> {
  const { appId, owner, name, condition, changedAtMs } = segment;
  const statement = sql`insert into saved_segment (app_id, owner, name, condition, changed_at_ms)
    select ${appId}::int, ${owner}::text, ${name}::text, ${JSON.stringify(condition)}::jsonb, ${changedAtMs}::bigint
    where (select count(*) from saved_segment where app_id = ${appId}) < ${segmentsMax}
    returning ${columns}`;
  return storedBy(query<SavedSegment>(executor, statement), "too_many");
}

export type SegmentChange = Partial<Pick<SavedSegment, "name" | "condition">>;

export async function changeSegment(
  executor: Executor,
  { appId, segmentId }: SegmentKey,
  change: SegmentChange & { changedAtMs: number },
): Promise<Stored<SavedSegment>> {
  const { name = null, condition, changedAtMs } = change;
  const statement = sql`update saved_segment set name = coalesce(${name}::text, name),
      condition = coalesce(${condition === undefined ? null : JSON.stringify(condition)}::jsonb, condition),
      changed_at_ms = ${changedAtMs}
    where app_id = ${appId} and segment_id = ${segmentId} returning ${columns}`;
  return storedBy(query<SavedSegment>(executor, statement), "gone");
}

export async function removeSegment(executor: Executor, { appId, segmentId }: SegmentKey): Promise<void> {
  await execute(executor, sql`delete from saved_segment where app_id = ${appId} and segment_id = ${segmentId}`);
}

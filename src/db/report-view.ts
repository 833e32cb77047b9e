import { type Executor, execute, query, sql } from "./engine/sql.ts";
import { type Stored, storedBy } from "./stored.ts";

/** A saved view of the ad report: the page's query parameters, under a name. */
export type ReportView = {
  viewId: number;
  appId: number;
  /** The name of the person who saved it. */
  owner: string;
  isShared: boolean;
  name: string;
  parameters: Record<string, string>;
  changedAtMs: number;
};

type ViewKey = Pick<ReportView, "appId" | "viewId">;

const columns = sql`view_id, app_id, owner, is_shared, name, parameters, changed_at_ms`;

/** A person's own views, and shared ones. */
export async function loadReportViews(
  executor: Executor,
  { appId, owner, limit }: { appId: number; owner: string; limit: number },
): Promise<ReportView[]> {
  return query<ReportView>(
    executor,
    sql`select ${columns} from report_view where app_id = ${appId} and (owner = ${owner} or is_shared)
      order by name, view_id limit ${limit}`,
  );
}

export async function findReportView(executor: Executor, { appId, viewId }: ViewKey): Promise<ReportView | undefined> {
  const [view] = await query<ReportView>(
    executor,
    sql`select ${columns} from report_view where app_id = ${appId} and view_id = ${viewId}`,
  );
  return view;
}

export async function createReportView(
  executor: Executor,
  view: Omit<ReportView, "viewId" | "isShared">,
  viewsMax: number,
): Promise<Stored<ReportView>> {
  const { appId, owner, name, parameters, changedAtMs } = view;
  const statement = sql`insert into report_view (app_id, owner, is_shared, name, parameters, changed_at_ms)
    select ${appId}::int, ${owner}::text, false, ${name}::text, ${JSON.stringify(parameters)}::jsonb, ${changedAtMs}::bigint
    where (select count(*) from report_view where app_id = ${appId} and owner = ${owner}) < ${viewsMax}
    returning ${columns}`;
  return storedBy(query<ReportView>(executor, statement), "too_many");
}

export type ReportViewChange = Partial<Pick<ReportView, "name" | "parameters" | "isShared">>;

export async function changeReportView(
  executor: Executor,
  { appId, viewId }: ViewKey,
  change: ReportViewChange & { changedAtMs: number },
): Promise<Stored<ReportView>> {
  const { name = null, parameters, isShared = null, changedAtMs } = change;
  const statement = sql`update report_view set name = coalesce(${name}::text, name),
      parameters = coalesce(${parameters === undefined ? null : JSON.stringify(parameters)}::jsonb, parameters),
      is_shared = coalesce(${isShared}::boolean, is_shared), changed_at_ms = ${changedAtMs}
    where app_id = ${appId} and view_id = ${viewId} returning ${columns}`;
  return storedBy(query<ReportView>(executor, statement), "gone");
}

export async function removeReportView(executor: Executor, { appId, viewId }: ViewKey): Promise<void> {
  await execute(executor, sql`delete from report_view where app_id = ${appId} and view_id = ${viewId}`);
}

/** How many views of questions, everybody's together, use each segment. The page's address names it by its id. */
export async function countViewsBySegment(executor: Executor, appId: number): Promise<Map<string, number>> {
  const rows = await query<{ segment: string; views: number }>(
    executor,
    sql`select parameters ->> 'segment' as segment, count(*) as views from report_view
      where app_id = ${appId} and parameters ->> 'of' = 'analysis' and parameters ->> 'segment' is not null
      group by parameters ->> 'segment'`,
  );
  return new Map(rows.map(({ segment, views }) => [segment, views]));
}

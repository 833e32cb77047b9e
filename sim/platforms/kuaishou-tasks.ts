import {
  type Answer,
  answer,
  type Call,
  type Fields,
  idAt,
  idsOf,
  jsonBody,
  objectAt,
  optionalWhole,
  parameter,
  Refusal,
  textAt,
  wholeAt,
} from "./call.ts";
import { assertDays, assertReach, dayBefore, pageOf, withNumberIds } from "./costs.ts";
import { type Asked, type Level, levelRows, shownRow } from "./kuaishou-rows.ts";
import type { Dialect, Route } from "./stand-in.ts";

/** Certain: the page of the interface names the length of a name, the span, and the ids of one question. */
const NAME_LENGTH_MAX = 50;
const IDS_MAX = 10;
/** Six months. */
const REACH_DAYS = 183;
/** Likely: the platform's page of limits, older than the interface's. */
const TASKS_PER_DAY = 50;

const VIEWS: ReadonlyMap<number, Level> = new Map([
  [1, "account"],
  [2, "campaign"],
  [3, "unit"],
  [4, "creative"],
]);
const COLUMNS: Readonly<Record<Level, readonly string[]>> = {
  account: ["stat_date", "charge", "show", "aclick", "photo_click", "bclick"],
  campaign: ["stat_date", "campaign_id", "campaign_name", "charge", "show", "aclick", "photo_click", "bclick"],
  unit: [
    ...["stat_date", "campaign_id", "campaign_name", "unit_id", "unit_name"],
    ...["charge", "show", "aclick", "photo_click", "bclick"],
  ],
  creative: [
    ...["stat_date", "campaign_id", "campaign_name", "unit_id", "unit_name", "creative_id", "creative_name"],
    ...["charge", "show", "aclick", "photo_click", "bclick"],
  ],
};

type Task = {
  id: number;
  account: string;
  name: string;
  createdAtMs: number;
  level: Level;
  days: { firstDay: string; lastDay: string };
  /** How often its state was asked: it is new, then running, then done. */
  asked: number;
};

const STATUS = { fresh: 0, running: 1, done: 2 };
const statusOf = ({ asked }: Task): number => (asked === 0 ? STATUS.fresh : asked === 1 ? STATUS.running : STATUS.done);

type Tasks = {
  base: string;
  dialect: Dialect;
  /** Authorises a call for the account that it names. */
  guard: (call: Call, accountOf: () => string) => Asked;
};

/** Reports of days beyond the synchronous ones: a task is made, asked after until it is done, and its file fetched. */
export function kuaishouTaskRoutes({ base, dialect, guard }: Tasks): readonly Route[] {
  const tasks: Task[] = [];
  const posted = (path: string, read: (body: Fields, asked: Asked) => Answer): Route => ({
    methods: ["POST"],
    path: `${base}/v1/async_task/${path}`,
    dialect,
    take(call) {
      const asked = guard(call, () => idAt(jsonBody(call), "advertiser_id"));
      return read(jsonBody(call), asked);
    },
  });
  return [
    posted("create", (body, asked) => created(body, asked, tasks)),
    posted("list", (body, asked) => listed(body, asked, tasks)),
    {
      methods: ["GET"],
      path: `${base}/v1/async_task/download`,
      dialect,
      take(call) {
        const asked = guard(call, () => parameter(call.query, "advertiser_id"));
        return downloaded(parameter(call.query, "task_id"), asked, tasks);
      },
    },
  ];
}

function created(body: Fields, { account, nowMs }: Asked, tasks: Task[]): Answer {
  const name = textAt(body, "task_name");
  if (name.length > NAME_LENGTH_MAX) throw new Refusal("task_name has more than 50 characters");
  const own = tasks.filter((task) => task.account === account);
  if (own.some((task) => task.name === name)) throw new Refusal("task_name was used before");
  const today = dayBefore(nowMs, 0);
  if (own.filter((task) => dayBefore(task.createdAtMs, 0) === today).length >= TASKS_PER_DAY)
    throw new Refusal("more than 50 tasks in a day");
  const params = objectAt(body, "task_params");
  const level = VIEWS.get(wholeAt(params, "view_type"));
  if (level === undefined) throw new Refusal("view_type is not served here");
  if ((params.temporal_granularity ?? "DAILY") !== "DAILY")
    throw new Refusal("temporal_granularity is not served here");
  const days = assertDays({ firstDay: params.start_date, lastDay: params.end_date, daysMax: REACH_DAYS });
  assertReach(days, { nowMs, days: REACH_DAYS });
  const task: Task = { id: 1_230_100 + tasks.length, account, name, createdAtMs: nowMs, level, days, asked: 0 };
  tasks.push(task);
  return enveloped({ advertiser_id: Number(account), task_id: task.id });
}

function listed(body: Fields, { account }: Asked, tasks: Task[]): Answer {
  const ids = idsOf(body.task_ids, { name: "task_ids", max: IDS_MAX });
  const page = optionalWhole(body, "page", { min: 1 }) ?? 1;
  const pageSize = optionalWhole(body, "page_size", { min: 1 }) ?? 20;
  const own = tasks.filter((task) => task.account === account && (ids?.has(String(task.id)) ?? true));
  for (const task of own) task.asked += 1;
  const { items, total } = pageOf(own, { page, pageSize, pageRows: Number.POSITIVE_INFINITY });
  const details = items.map((task) => ({
    advertiser_id: Number(account),
    task_id: task.id,
    task_name: task.name,
    create_time: `${dayBefore(task.createdAtMs, 0)} 00:00:00`,
    task_status: statusOf(task),
    file_size: 0,
  }));
  return enveloped({ total_count: total, details });
}

/** Certain: the answer is a CSV file; likely: its columns bear the names of the synchronous report's fields. */
function downloaded(id: string, { book, account }: Asked, tasks: readonly Task[]): Answer {
  const task = tasks.find((one) => String(one.id) === id && one.account === account);
  if (task === undefined) throw new Refusal("task_id is unknown");
  if (statusOf(task) !== STATUS.done) throw new Refusal("the task is not done");
  const columns = COLUMNS[task.level];
  const lines = levelRows(book.between(account, task.days), task.level).map((row) => {
    const shown = shownRow(row, task.level);
    return columns.map((column) => cell(shown[column] ?? "")).join(",");
  });
  const body = `${[columns.join(","), ...lines].join("\n")}\n`;
  return { status: 200, body, headers: { "content-type": "text/csv; charset=utf-8" } };
}

function cell(value: string | number): string {
  const text = String(value).replace(/^#id:/, "");
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function enveloped(data: object): Answer {
  const shown = answer({ code: 0, message: "OK", data });
  return { ...shown, body: withNumberIds(shown.body) };
}

import { parse } from "csv-parse/sync";
import type { JsonObject } from "../../domain/json.ts";
import type { CallContext, HttpRequest } from "../connector/connector.ts";
import type { CostPage, CostQuestion } from "../connector/cost-connector.ts";
import { objectsOf, type Refusal, textOf } from "../connector/reply.ts";
import { get, idJson, jsonTextPost, objectJson, withQuery } from "../connector/request.ts";

/**
 * Reports of days that immediate ones do not reach:
 *
 *   task ──▶ task_state, until it is done ──▶ task_file, a CSV file
 */
const LISTS = ["task", "task_state", "task_file"];

export function isTask({ list }: CostQuestion): boolean {
  return LISTS.includes(String(list));
}

/** The number by which a task names the level of its report. */
const VIEW_TYPES: Readonly<Record<string, string>> = { account: "1", campaign: "2", unit: "3", creative: "4" };
/** A task's name is unique in its account and has at most 50 characters. */
const NONCE_CHARACTERS = 12;

export function taskRequest(question: CostQuestion, { account, nonce }: CallContext): HttpRequest {
  const base = `${account("base_url")}/v1/async_task`;
  const headers = { "Access-Token": account("access_token") };
  const advertiser_id = account("advertiser_id");
  switch (question.list) {
    case "task": {
      const { level, from, to } = question;
      const task_name = `tp ${level} ${from} ${to} ${nonce.slice(0, NONCE_CHARACTERS)}`;
      const task_params = objectJson({
        start_date: JSON.stringify(from),
        end_date: JSON.stringify(to),
        view_type: VIEW_TYPES[String(level)]!,
        temporal_granularity: '"DAILY"',
      });
      const values = { advertiser_id: idJson(advertiser_id), task_name: JSON.stringify(task_name), task_params };
      return jsonTextPost(`${base}/create`, objectJson(values), headers);
    }
    case "task_state": {
      const values = { advertiser_id: idJson(advertiser_id), task_ids: `[${idJson(String(question.task))}]` };
      return jsonTextPost(`${base}/list`, objectJson(values), headers);
    }
    default:
      return get(withQuery(`${base}/download`, { advertiser_id, task_id: question.task ?? "" }), headers);
  }
}

const STATE = { done: "2", failed: "3" };

export function readTask(question: CostQuestion, data: JsonObject): CostPage {
  const days = `${question.from} to ${question.to}`;
  if (question.list === "task") {
    const task = textOf(data.task_id);
    if (task === "") return { kind: "retry", reason: "Kuaishou answered something unexpected." };
    return { kind: "page", costs: [], names: [], next: [{ ...question, list: "task_state", task }] };
  }
  if (question.list === "task_file") return { kind: "permanent", reason: `Kuaishou sent no file for ${days}.` };
  const own = objectsOf(data.details).find(({ task_id }) => textOf(task_id) === textOf(question.task));
  switch (textOf(own?.task_status)) {
    case STATE.done:
      return { kind: "page", costs: [], names: [], next: [{ ...question, list: "task_file" }] };
    case STATE.failed:
      return { kind: "permanent", reason: `Kuaishou could not make the report of ${days}.` };
    default:
      return { kind: "wait", reason: `Kuaishou has not finished the report of ${days} yet.` };
  }
}

/** The rows of a file, by column. A file without the day and the cost is another one than was requested. */
export function rowsOfFile(file: string): JsonObject[] | Refusal {
  const unreadable = { kind: "permanent", reason: "Kuaishou sent a file that cannot be read." } as const;
  try {
    const [header = [], ...lines] = parse(file, { bom: true, trim: true, skip_empty_lines: true }) as string[][];
    if (!header.includes("stat_date") || !header.includes("charge")) return unreadable;
    return lines.map((cells) => Object.fromEntries(header.map((name, at) => [name, cells[at] ?? ""])));
  } catch {
    return unreadable;
  }
}

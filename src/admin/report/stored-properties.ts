import type { EventsQuestion } from "../../contract/analysis/events.ts";
import type { Executor } from "../../db/engine/sql.ts";
import { loadStoredProperties } from "../../db/lake-file.ts";
import { readRange } from "../../report/analysis/range.ts";

/** The properties that the files of a question's days have as columns of their own; none where it is not split. */
export async function storedProperties(read: Executor, appId: number, question: object): Promise<Set<string>> {
  const { split, date_list: dates } = question as Partial<EventsQuestion>;
  if (!split || split.length === 0 || !dates) return new Set();
  return loadStoredProperties(read, { appId, ...readRange(dates) });
}

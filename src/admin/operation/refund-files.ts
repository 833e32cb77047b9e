import { csvBody } from "../../contract/admin/cost.ts";
import type { TakenRefunds } from "../../contract/admin/refund.ts";
import { FileError } from "../../cost/csv-file.ts";
import { type FileRefund, readRefunds } from "../../cost/refund-file.ts";
import { addUnknown, knownRefunds, unknownOrders } from "../../cost/refund-preview.ts";
import type { Executor } from "../../db/engine/sql.ts";
import { ApiError } from "../../errors.ts";
import { knownAppRules } from "../apps.ts";
import { act, type Desk } from "../desk.ts";
import type { GivenFile } from "./cost-files.ts";

/** Refunds of one journal entry. */
const REFUNDS_PER_ENTRY = 2_000;

/** Writes refunds of an app to the journal, in the order given. */
export type AppendRefunds = (appId: number, refunds: readonly FileRefund[]) => Promise<void>;

/**
 * Takes refunds from a file. They go through the journal like everything that is counted, so that a replay counts them
 * too. The note is committed before; if the journal has no room for the rest of the file, the file can be imported again,
 * because a refund that is stored stays as it is.
 */
export async function takeRefunds(desk: Desk, given: GivenFile, append: AppendRefunds): Promise<Taken> {
  const { appId, refunds, taken } = await act(desk, {
    action: "refund/import",
    schema: csvBody,
    body: given.body,
    // The orders of a file belong to people, and the note would outlive their erasure.
    noted: ({ appId, taken: { rows, unknown_orders } }: Checked) => ({ app_id: appId, rows, unknown_orders }),
    run: (tx) => check(tx, given, desk.clock()),
  });
  for (const some of partsOf(refunds)) await append(appId, some);
  return taken;
}

type Taken = Omit<TakenRefunds, "state">;

/** A file in which every line is right, and what its import does. */
type Checked = { appId: number; refunds: readonly FileRefund[]; taken: Taken };

async function check(tx: Executor, { body, file }: GivenFile, nowMs: number): Promise<Checked> {
  if (body.app_id === undefined) throw new ApiError("badParameter", "app_id is missing.");
  const { appId, ...app } = await knownAppRules(tx, body.app_id);
  const refunds = await readRefunds(file, { ...app, nowMs }).catch(asRefusal);
  const taken: Taken = { rows: refunds.length, new: 0, same: 0, unknown_orders: 0, first_unknown: [] };
  for (const some of partsOf(refunds)) {
    taken.same += (await knownRefunds(tx, appId, some)).length;
    addUnknown(taken, await unknownOrders(tx, appId, some));
  }
  taken.new = taken.rows - taken.same;
  return { appId, refunds, taken };
}

function asRefusal(error: unknown): never {
  throw error instanceof FileError ? new ApiError("badParameter", error.message) : error;
}

function* partsOf(refunds: readonly FileRefund[]): Generator<FileRefund[]> {
  for (let at = 0; at < refunds.length; at += REFUNDS_PER_ENTRY) yield refunds.slice(at, at + REFUNDS_PER_ENTRY);
}

import { isConflict } from "./engine/failure.ts";

/** What became of a change to something that people save under a name. */
export type Stored<Row> =
  | { kind: "stored"; row: Row }
  | { kind: "name_taken" }
  | { kind: "too_many" }
  | { kind: "gone" };

/** The row that a statement has stored. `otherwise`: why it may have stored none. */
export async function storedBy<Row>(rows: Promise<Row[]>, otherwise: "too_many" | "gone"): Promise<Stored<Row>> {
  try {
    const [row] = await rows;
    return row ? { kind: "stored", row } : { kind: otherwise };
  } catch (error) {
    if (isConflict(error)) return { kind: "name_taken" };
    throw error;
  }
}

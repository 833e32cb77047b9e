import type pg from "pg";
import { loadAppRules } from "../db/app.ts";
import { isLockRefused } from "../db/engine/failure.ts";
import { inTransaction } from "../db/engine/pool.ts";
import { countPartDays, emptyColdParts, freezePart, isPartMarked, loadPartsUntil } from "../db/event-freeze.ts";
import { markLake } from "../db/lake-mark.ts";
import { addDays } from "../domain/calendar.ts";
import type { EventPart } from "../domain/event/event-part.ts";
import type { Log } from "../log.ts";
import type { EngineCalls } from "./engine-process.ts";
import type { LakeFolder } from "./lake-folder.ts";
import { checkDay } from "./verify.ts";

export type FreezerParts = { pool: pg.Pool; folder: LakeFolder; engine: EngineCalls; log: Log };

/** Behind every clock: days begin last in the time zone that is twelve hours behind UTC. */
const BEHIND_MS = 12 * 3_600_000;

/**
 * Takes days out of the table once they are old enough and only if the lake has all of them.
 *
 *   no mark ─▶ files and table compared, app by app and day by day ─▶ one transaction, while nothing is applied: still no mark,
 *   as many rows in the partition as in the files; the day is cold, and its partition is empty
 */
export class Freezer {
  readonly #parts: FreezerParts;

  constructor(parts: FreezerParts) {
    this.#parts = parts;
  }

  /** Freezes whatever can be, oldest days first. Returns the number of parts. */
  async freeze({ hotDays, nowMs, isOut }: { hotDays: number; nowMs: number; isOut: () => boolean }): Promise<number> {
    const today = new Date(nowMs - BEHIND_MS).toISOString().slice(0, 10);
    let frozen = 0;
    for (const part of await loadPartsUntil(this.#parts.pool, addDays(today, -hotDays))) {
      if (isOut()) break;
      if (await this.#freeze(part, nowMs)) frozen += 1;
    }
    return frozen;
  }

  /** Gives space back that events took which came for cold days. */
  async tidy(): Promise<void> {
    await emptyColdParts(this.#parts.pool).catch((error: unknown) => {
      if (!isLockRefused(error)) throw error;
    });
  }

  async #freeze(part: Pick<EventPart, "from" | "until">, nowMs: number): Promise<boolean> {
    const { pool, folder, log } = this.#parts;
    const appIds = (await loadAppRules(pool)).map(({ appId }) => appId);
    for (const appId of appIds) {
      if (await isPartMarked(pool, part, appId)) return false;
      for (const { day } of await countPartDays(pool, part, appId))
        if (!(await this.#isEqual({ appId, day }, nowMs))) return false;
    }
    try {
      const isFrozen = await inTransaction(pool, (tx) => freezePart(tx, part, { lakeId: folder.id, appIds }));
      if (isFrozen) log.info({ from: part.from, until: part.until }, "Events of older days are only in the lake now.");
      return isFrozen;
    } catch (error) {
      // Somebody reads the day, or a large batch is being applied.
      if (!isLockRefused(error)) throw error;
      log.debug("The lake waits for readers of an older day.");
      return false;
    }
  }

  /** A day that differs is written again. */
  async #isEqual({ appId, day }: { appId: number; day: string }, nowMs: number): Promise<boolean> {
    const { pool, log } = this.#parts;
    const { outcome } = await checkDay(this.#parts, { appId, kind: "events", day });
    if (outcome === "different") {
      log.error({ appId, day }, "Files of the lake differ from the table; their day is written again.");
      const mark = { appId, kind: "events" as const, day, again: true, receivedMs: 0 };
      await inTransaction(pool, (tx) => markLake(tx, [mark], nowMs));
    }
    return outcome === "equal";
  }
}

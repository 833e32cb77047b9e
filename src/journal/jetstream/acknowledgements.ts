import type { Appended, Position } from "../entry-log.ts";

/** An entry that was acknowledged. `until`: the end of its partition. */
type Acknowledged = { partition: number; until: Position; app: number; plainBytes: number; tookMs: number };

/** Collects the acknowledgements that arrive together, which are counted once for all. */
export class Acknowledgements {
  readonly #onAppended: (appended: Appended) => void;
  readonly #waiting = new Map<number, Appended>();
  #isDue = false;

  constructor(onAppended: (appended: Appended) => void) {
    this.#onAppended = onAppended;
  }

  add({ partition, until, app, plainBytes, tookMs }: Acknowledged): void {
    let appended = this.#waiting.get(partition);
    if (!appended) {
      appended = { partition, until, records: 0, byApp: new Map(), tookMs };
      this.#waiting.set(partition, appended);
    }
    appended.until = until;
    appended.records += 1;
    appended.byApp.set(app, (appended.byApp.get(app) ?? 0) + plainBytes);
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => this.tell());
  }

  tell(): void {
    this.#isDue = false;
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const appended of all) this.#onAppended(appended);
  }
}

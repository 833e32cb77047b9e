import type { LiveCall } from "../../contract/live.ts";
import type { LogBus } from "../../journal/log-bus.ts";
import { LIMITS } from "../../limits.ts";
import type { Live, Watch } from "./live.ts";
import type { Watched } from "./watching.ts";

const TOPICS = { watched: "live-watched", call: "live-call", recent: "live-recent" } as const;

/** How often watchers are told of, and how long that counts. */
const TELL_MS = 1_000;
const COUNTS_MS = 3_500;

type Elsewhere = { watch: Watch; untilMs: number };

/**
 * Shows the calls that one process of an installation answers to those who watch at another:
 *
 *   watched here ─▶ told to the others ─▶ they watch, too, and send what they see ─▶ shown here
 *
 * What a process remembers stays with it, and is asked for when somebody wants it.
 */
export class LiveRelay {
  readonly #live: Live;
  readonly #bus: LogBus;
  readonly #now: () => number;
  /** What others watch, by its text. */
  readonly #elsewhere = new Map<string, Elsewhere>();
  readonly #telling: NodeJS.Timeout;

  constructor(live: Live, bus: LogBus, now: () => number) {
    this.#live = live;
    this.#bus = bus;
    this.#now = now;
    bus.hear(TOPICS.watched, (text) => this.#watchFor(text));
    bus.hear(TOPICS.call, (text) => {
      const { appId, call } = JSON.parse(text) as { appId: number; call: LiveCall };
      live.showFromElsewhere(appId, call);
    });
    bus.answer(TOPICS.recent, (text) => {
      const { appId, bytesMax } = JSON.parse(text) as { appId: number; bytesMax: number };
      return JSON.stringify(live.recent(appId, bytesMax));
    });
    this.#telling = setInterval(() => this.#tell(), TELL_MS).unref();
  }

  /** The calls that all processes remember of an app, oldest first. */
  async recent(appId: number, bytesMax: number): Promise<LiveCall[]> {
    const answers = await this.#bus.ask(TOPICS.recent, JSON.stringify({ appId, bytesMax }));
    const calls = [...this.#live.recent(appId, bytesMax), ...answers.flatMap((text) => JSON.parse(text) as LiveCall[])];
    return calls.sort((one, other) => one.at_ms - other.at_ms);
  }

  close(): void {
    clearInterval(this.#telling);
    for (const { watch } of this.#elsewhere.values()) watch.stop();
    this.#elsewhere.clear();
  }

  #tell(): void {
    for (const watched of this.#live.watched()) this.#bus.say(TOPICS.watched, JSON.stringify(watched));
    for (const [text, { watch, untilMs }] of this.#elsewhere) {
      if (untilMs > this.#now()) continue;
      watch.stop();
      this.#elsewhere.delete(text);
    }
  }

  #watchFor(text: string): void {
    const untilMs = this.#now() + COUNTS_MS;
    const known = this.#elsewhere.get(text);
    if (known) known.untilMs = untilMs;
    if (known || this.#elsewhere.size >= LIMITS.liveWatchers) return;
    const watched = JSON.parse(text) as Watched;
    const watcher = {
      tell: ({ text: call }: { text: string }) =>
        this.#bus.say(TOPICS.call, `{"appId":${watched.appId},"call":${call}}`),
      end: () => {},
    };
    this.#elsewhere.set(text, { watch: this.#live.watchFor(watched, watcher), untilMs });
  }
}

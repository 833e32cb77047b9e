import type { AppMetadata } from "../../domain/event/metadata.ts";
import { LIMITS } from "../../limits.ts";

export type AppOfBody = { appId: number; metadata: AppMetadata };

/** The app of a body, as a thread is told of it. Metadata are sent only when new; `forget` drops all others first. */
export type AppNews = { appId: number; metadata: AppMetadata | undefined; forget: boolean };

/** The apps whose metadata a thread has. Sending metadata with every body would cost more than judging it. */
export class ToldApps {
  readonly #metadata = new Map<number, AppMetadata>();

  /** What the thread has to be told before it can judge a body of the app. */
  news({ appId, metadata }: AppOfBody): AppNews {
    if (this.#metadata.get(appId) === metadata) return { appId, metadata: undefined, forget: false };
    const forget = this.#metadata.size >= LIMITS.toldApps;
    if (forget) this.#metadata.clear();
    this.#metadata.set(appId, metadata);
    return { appId, metadata, forget };
  }

  clear(): void {
    this.#metadata.clear();
  }
}

/** The same apps on the side of the thread. */
export class HeardApps {
  readonly #metadata = new Map<number, AppMetadata>();

  metadataOf({ appId, metadata, forget }: AppNews): AppMetadata {
    if (forget) this.#metadata.clear();
    if (metadata) this.#metadata.set(appId, metadata);
    return this.#metadata.get(appId)!;
  }
}

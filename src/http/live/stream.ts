import type { FastifyReply, FastifyRequest } from "fastify";
import { ApiError, CODES } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { ownTurn } from "../../own-turn.ts";
import type { Live } from "./live.ts";
import type { Told } from "./told.ts";
import { Unsent } from "./unsent.ts";
import type { Watched } from "./watching.ts";

/** Interval of the messages that keep the connection open through proxies, and of the check that the session lives. */
const HEARTBEAT_MS = 5_000;

/** `connection: close`, because a kept-alive connection would delay a stopping server. */
const STREAM_HEADERS = { "content-type": "text/event-stream", "cache-control": "no-store", connection: "close" };

type Manner = {
  /** The message to send; undefined skips the call. */
  messageOf: (told: Told) => Buffer | undefined;
  mayGoOn: () => Promise<boolean>;
};

/** Streams the watched calls until the caller hangs up or may no longer watch, or the server stops. */
export async function openStream(
  live: Live,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  watched: Watched,
  { messageOf, mayGoOn }: Manner,
): Promise<void> {
  // The remembered calls are up to half a megabyte: a hundred watchers who come together would hold up everybody.
  await ownTurn();
  const { raw } = reply;
  // Nobody is there any more, and nothing would end the watch.
  if (raw.destroyed) return void reply.hijack();
  const unsent = new Unsent(raw);
  let missed = 0;
  let isOpen = false;
  const tell = (told: Told) => {
    const message = messageOf(told);
    if (!message) return;
    // A slow watcher misses calls instead of filling the memory. The remembered ones are limited already.
    if (isOpen && unsent.bytes >= LIMITS.liveStreamBytes) missed += 1;
    else unsent.add(message);
  };
  const lastId = Number(request.headers["last-event-id"] ?? 0);
  const watch = live.watch(watched, { tell, end: () => unsent.end() }, Number.isSafeInteger(lastId) ? lastId : 0);
  if (!watch) throw new ApiError("overloaded", `${LIMITS.liveWatchers} streams are open already.`, { retryAfterS: 60 });

  reply.hijack();
  isOpen = true;
  raw.writeHead(CODES.ok.status, STREAM_HEADERS);
  raw.write(": watching\n\n");
  const beat = setInterval(() => {
    missed += watch.takeMissed();
    if (unsent.bytes < LIMITS.liveStreamBytes) {
      unsent.add(Buffer.from(missed > 0 ? `event: missed\ndata: {"calls":${missed}}\n\n` : ": alive\n\n"));
      missed = 0;
    }
    mayGoOn().then(
      (isAllowed) => void (isAllowed || unsent.end()),
      // While the database is away the session cannot be checked; the stream goes on, as it needs nothing else from it.
      () => {},
    );
  }, HEARTBEAT_MS);
  raw.on("error", () => {});
  raw.on("close", () => {
    clearInterval(beat);
    watch.stop();
  });
}

import type { FastifyReply, FastifyRequest } from "fastify";
import { ApiError, CODES } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import type { Live } from "./live.ts";
import type { Told } from "./told.ts";
import type { Watched } from "./watching.ts";

/** What keeps the line open through proxies; and so soon a stream ends after its session has. */
const HEARTBEAT_MS = 5_000;

/** Kept alive after its end, the connection would keep a server that stops. */
const STREAM_HEADERS = { "content-type": "text/event-stream", "cache-control": "no-store", connection: "close" };

type Manner = {
  /** The empty text: not shown here. */
  messageOf: (told: Told) => string | Buffer;
  mayGoOn: () => Promise<boolean>;
};

/** Answers with a stream of what is watched, until the caller hangs up, may no longer watch, or the server stops. */
export function openStream(
  live: Live,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  watched: Watched,
  { messageOf, mayGoOn }: Manner,
): void {
  const { raw } = reply;
  const remembered: (string | Buffer)[] = [];
  let missed = 0;
  let isOpen = false;
  const write = (message: string | Buffer) => {
    if (!isOpen) remembered.push(message);
    // A watcher that does not keep up misses some; it must not fill the memory.
    else if (raw.writableLength < LIMITS.liveStreamBytes) raw.write(message);
    else missed += 1;
  };
  const end = () => void (raw.writableEnded || raw.end());
  const tell = (told: Told) => {
    const message = messageOf(told);
    if (message !== "") write(message);
  };
  const lastId = Number(request.headers["last-event-id"] ?? 0);
  const watch = live.watch(watched, { tell, end }, Number.isSafeInteger(lastId) ? lastId : 0);
  if (!watch) throw new ApiError("overloaded", `${LIMITS.liveWatchers} streams are open already.`, { retryAfterS: 60 });

  reply.hijack();
  isOpen = true;
  raw.writeHead(CODES.ok.status, STREAM_HEADERS);
  raw.write(": watching\n\n");
  for (const message of remembered) raw.write(message);
  const beat = setInterval(() => {
    missed += watch.takeMissed();
    write(missed > 0 ? `event: missed\ndata: {"calls":${missed}}\n\n` : ": alive\n\n");
    missed = 0;
    mayGoOn().then(
      (isAllowed) => void (isAllowed || end()),
      // While the database is away nobody can tell; the stream needs it for nothing else.
      () => {},
    );
  }, HEARTBEAT_MS);
  raw.on("error", () => {});
  raw.on("close", () => {
    clearInterval(beat);
    watch.stop();
  });
}

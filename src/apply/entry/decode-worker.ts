import { parentPort } from "node:worker_threads";
import { decodeItem, type EventsEntry, openItem } from "./decode.ts";
import { type HandedEntries, type HandedEvents, handEvents, memoryOf, payloadsOf } from "./handed-events.ts";
import { SentEvents } from "./sent-events.ts";

const port = parentPort!;

port.on("message", (entries: HandedEntries) => {
  const handed = decodeAll(entries);
  port.postMessage(handed, memoryOf(handed));
});

function decodeAll(entries: HandedEntries): HandedEvents {
  const events = SentEvents.empty(entries.bytes.length);
  const decoded = Array.from(payloadsOf(entries), (payload) => decodeCollected(payload, events));
  return handEvents(decoded, events);
}

/** The events of a call of collect; undefined for any other entry, and for one that cannot be read. */
function decodeCollected(payload: Buffer, events: SentEvents): EventsEntry | undefined {
  const item = openItem({ kind: "record", from: 0, until: 0, payload });
  if (item.entry?.head.kind !== "collect") return undefined;
  const decoded = decodeItem(item, events);
  return decoded.kind === "events" ? decoded : undefined;
}

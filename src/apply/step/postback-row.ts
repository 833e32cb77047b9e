import type { NewOutboxRow } from "../../db/outbox.ts";
import type { NewPostback } from "../../db/postback.ts";

/** A postback to store and, when its status is waiting, to send. */
export type Row = { postback: NewPostback; lane: string; content: NewOutboxRow["content"] };

/** Both times are when we received the event; see NewPostback for what happens when it is sent again. */
export function createdAt(receivedAtMs: number): Pick<NewPostback, "createdAtMs" | "changedAtMs"> {
  return { createdAtMs: receivedAtMs, changedAtMs: receivedAtMs };
}

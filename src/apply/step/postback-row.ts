import type { NewOutboxRow } from "../../db/outbox.ts";
import type { NewPostback } from "../../db/postback.ts";

/** A postback that is to be stored and, where it waits, sent. */
export type Row = { postback: NewPostback; lane: string; content: NewOutboxRow["content"] };

/** See NewPostback: both are when it was told to us, until the same happens again. */
export function createdAt(receivedAtMs: number): Pick<NewPostback, "createdAtMs" | "changedAtMs"> {
  return { createdAtMs: receivedAtMs, changedAtMs: receivedAtMs };
}

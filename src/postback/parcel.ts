import type { Executor } from "../db/engine/sql.ts";
import type { ClaimedRow } from "../db/outbox.ts";
import { postbackKeyText } from "../db/postback.ts";
import { loadParcelFacts, type ParcelFacts } from "../db/postback-parcel.ts";
import type { UserAccount } from "../db/user-account.ts";
import type { TouchKind } from "../domain/attribution/touch.ts";
import { md5 } from "../domain/user/identity.ts";

/** What receivers are told about a user. */
export type ParcelUser = Pick<
  UserAccount,
  "clientId" | "wxOpenid" | "wxUnionid" | "osPlatform" | "ip" | "ua" | "device"
>;

/** A claimed row with its facts from the tables. */
export type Parcel = {
  row: ClaimedRow;
  /** Undefined when the user is gone. */
  user: ParcelUser | undefined;
  /** The kind of the touch that won the user. */
  touchKind: TouchKind;
  /** From the postback: what happened and when, its amount, and its order. */
  moment: string;
  atMs: number;
  valueCents: number | null;
  traceId: string;
  /** The id by which receivers detect repeats. */
  dedupeId: string;
  createdAtMs: number;
  resent: number;
};

export async function loadParcels(tx: Executor, rows: readonly ClaimedRow[]): Promise<Parcel[]> {
  const facts = new Map((await loadParcelFacts(tx, rows)).map((one) => [postbackKeyText(one), one]));
  return rows.map((row) => parcelOf(row, facts.get(postbackKeyText(row))!));
}

function parcelOf(row: ClaimedRow, facts: ParcelFacts): Parcel {
  const { clientId, wxOpenid, wxUnionid, osPlatform, ip, ua, device } = facts;
  const createdAtMs = facts.createdAtMs ?? 0;
  return {
    row,
    user: facts.hasUser ? { clientId, wxOpenid, wxUnionid, osPlatform, ip, ua, device } : undefined,
    touchKind: facts.touchKind ?? "click",
    moment: facts.moment ?? "",
    atMs: facts.atMs ?? 0,
    valueCents: facts.valueCents,
    traceId: facts.traceId ?? "",
    createdAtMs,
    resent: facts.resent ?? 0,
    dedupeId: dedupeIdOf(row, { madeFor: facts.madeFor || clientId, createdAtMs }),
  };
}

/**
 * The same id in every attempt, including requested ones, even if the client's id has changed. The time of creation
 * distinguishes the client from a later one with the same id.
 */
function dedupeIdOf(
  { appId, eventType, subject }: ClaimedRow,
  { madeFor, createdAtMs }: { madeFor: string; createdAtMs: number },
): string {
  return md5(`${appId}\n${madeFor}\n${eventType}\n${subject}\n${createdAtMs}`);
}

import { loadDecisions } from "../db/attribution-decision.ts";
import type { Executor } from "../db/engine/sql.ts";
import { loadMediaTokens } from "../db/media-token.ts";
import { loadAccount, loadReaches } from "../db/platform-account.ts";
import { loadPlatformSecrets } from "../db/platform-secret.ts";
import { loadUsers, type UserAccount } from "../db/user-account.ts";
import type { TouchKind } from "../domain/attribution/touch.ts";
import type { JsonObject } from "../domain/json.ts";
import { isPrivateHost } from "../domain/network.ts";
import { laneOf } from "../domain/postback/postback-book.ts";
import { ApiError } from "../errors.ts";
import { newNonce } from "../outbound/account-token.ts";
import { loadConnectors } from "../outbound/connectors.ts";
import type { Conversion } from "../platform/connector/connector.ts";
import type { Vault } from "../vault.ts";
import type { Parcel, ParcelUser } from "./parcel.ts";
import { type ChannelParts, conversionOf, lentTo, preparedFor } from "./platform-channel.ts";
import type { TestWish } from "./test-wish.ts";

/** A test that may be sent. It exists in memory only: nothing about it is stored. */
export type PreparedTest = {
  testId: string;
  mark: TestWish["mark"];
  parts: ChannelParts;
  parcel: Parcel;
  /** Whether real postbacks of the user go through another account. */
  isOfOther: boolean;
  /** The call without its query, for the audit log. */
  to: string;
};

export type TestRoom = { vault: Vault; nowMs: number; mayCallPrivate: boolean };

/** Loads what a test needs and refuses one that cannot be sent. The request is built by the connector, as for a real one. */
export async function prepareTest(tx: Executor, room: TestRoom, wish: TestWish): Promise<PreparedTest> {
  const { vault, nowMs, mayCallPrivate } = room;
  const parts = await loadParts(tx, vault, wish);
  const source = await loadSource(tx, wish);
  const testId = newTestId();
  const parcel = parcelOf(wish, source, { testId, nowMs });
  const prepared = preparedFor(parts, parcel, nowMs)!;
  if (prepared.kind === "skip") throw bad(`Nothing can be sent: ${prepared.reason}`);
  const { method, url } = prepared.request;
  const { hostname, origin, pathname } = new URL(url);
  if (!mayCallPrivate && isPrivateHost(hostname))
    throw bad(
      `Nothing can be sent: ${hostname} is an address of a private network; PLATFORM_PRIVATE_NETWORKS=allow allows them.`,
    );
  return { testId, mark: wish.mark, parts, parcel, isOfOther: source.isOfOther, to: `${method} ${origin}${pathname}` };
}

/** Never the id of a real conversion, which has hexadecimal digits only, and as long as one. */
function newTestId(): string {
  return `test_${newNonce()}`.slice(0, 32);
}

async function loadParts(tx: Executor, vault: Vault, { account: key }: TestWish): Promise<ChannelParts> {
  const account = await loadAccount(tx, vault, key);
  if (!account) throw bad(`App ${key.appId} has no such account at ${key.adPlatform}.`);
  const connector = (await loadConnectors(tx, key.appId)).postbackOf(key.adPlatform);
  if (!connector) throw bad(`${key.adPlatform} does not accept postbacks.`);
  if (!account.postbacks) throw bad("This account sends no postbacks: switch them on first.");
  const [tokens, secrets] = [await loadMediaTokens(tx, vault), await loadPlatformSecrets(tx, vault, [key.appId])];
  return { account, connector, lent: lentTo(account, connector, { tokens, secrets }) };
}

/** Conversions of a user as they would happen now, to show what would be sent. */
export async function loadExamples(
  tx: Executor,
  account: TestWish["account"],
  { clientId, nowMs }: { clientId: string; nowMs: number },
): Promise<(eventType: TestWish["eventType"], valueCents: number | null) => Conversion> {
  const wish = { account, code: "", mark: "off", of: { kind: "user", clientId } } as const;
  const source = await loadSource(tx, wish);
  return (eventType, valueCents) => {
    const parcel = parcelOf({ ...wish, eventType, valueCents }, source, { testId: newTestId(), nowMs });
    return conversionOf(parcel)!;
  };
}

/** The user or click behind the conversion. */
type Source = { user: ParcelUser; adData: JsonObject; touchKind: TouchKind; isOfOther: boolean };

async function loadSource(tx: Executor, { of, account }: Pick<TestWish, "of" | "account">): Promise<Source> {
  const { appId, adPlatform, advertiserId } = account;
  if (of.kind === "click") {
    const adData = { ...(advertiserId !== "" && { advertiser_id: advertiserId }), ...of.click };
    return { user: of.user, adData, touchKind: "click", isOfOther: false };
  }
  const [user] = await loadUsers(tx, [{ appId, clientId: of.clientId }], []);
  if (!user) throw new ApiError("notRegistered", "There is no user with this client_id.");
  if (user.adPlatform === "")
    throw bad(`This user is organic: choose one whom ${adPlatform} brought, or name a click.`);
  if (user.adPlatform !== adPlatform) throw bad(`This user came from ${user.adPlatform}, not from ${adPlatform}.`);
  return {
    user,
    adData: user.adData,
    touchKind: await touchKindOf(tx, user),
    isOfOther: (await ownAdvertiser(tx, user)) !== advertiserId,
  };
}

async function touchKindOf(tx: Executor, user: UserAccount): Promise<TouchKind> {
  const decision = (await loadDecisions(tx, user)).find(({ number }) => number === user.decisionNumber);
  return decision?.candidates.find(({ outcome }) => outcome === "won")?.touch.kind ?? "click";
}

/** The advertiser of the account that sends the user's postbacks; empty for the platform's general one. */
async function ownAdvertiser(tx: Executor, { appId, adPlatform, advertiserId }: UserAccount): Promise<string> {
  const lanes = (await loadReaches(tx, [appId])).map(laneOf);
  return lanes.includes(laneOf({ appId, adPlatform, advertiserId })) ? advertiserId : "";
}

function parcelOf(wish: TestWish, source: Source, { testId, nowMs }: { testId: string; nowMs: number }): Parcel {
  const { account, eventType, code, valueCents } = wish;
  const { user, adData, touchKind } = source;
  const key = { appId: account.appId, clientId: user.clientId, eventType, subject: testId };
  return {
    row: { ...key, outboxId: 0, attempts: 1, wasInFlight: false, content: { ad_data: adData, code } },
    user,
    // A conversion by itself: ad revenue is that of one ad.
    moment: "each_ad",
    touchKind,
    atMs: nowMs,
    valueCents,
    // Only conversions with an amount are orders.
    traceId: valueCents === null ? "" : testId,
    dedupeId: testId,
    createdAtMs: nowMs,
    resent: 0,
  };
}

function bad(message: string): ApiError {
  return new ApiError("badParameter", message);
}

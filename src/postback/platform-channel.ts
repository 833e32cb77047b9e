import { noteAccountError, type PlatformAccount } from "../db/platform-account.ts";
import { isObject, type JsonObject } from "../domain/json.ts";
import type { PostbackEventType } from "../domain/postback/postback.ts";
import { laneOf } from "../domain/postback/postback-book.ts";
import { newNonce, settingsOfAccount, type TokenDeps, type TokenDesk } from "../outbound/account-token.ts";
import { isOwnAddress } from "../platform/account.ts";
import type { Conversion, PostbackConnector, Prepared, ReplyVerdict } from "../platform/connector/connector.ts";
import { ANSWER_LOST, type Channel, type Delivery, isOfThePast, type Plan } from "./channel.ts";
import type { Parcel } from "./parcel.ts";

/** Values lent to the account, such as the token that the app's server reports. */
export type Lent = Readonly<Record<string, string>>;

/** An account with its platform's connector. */
export type ChannelParts = { account: PlatformAccount; connector: PostbackConnector; lent: Lent };

export type PlatformDeps = TokenDeps & { tokens: TokenDesk };

const WITHOUT_USER: Delivery = { kind: "later", reason: "The user is not known yet.", isDown: false };

/** The channel to a platform through one of the app's accounts. */
export class PlatformChannel implements Channel {
  readonly lane: string;
  readonly version: string;
  readonly #deps: PlatformDeps;
  readonly #connector: PostbackConnector;
  readonly #lent: Lent;
  #account: PlatformAccount;

  constructor(deps: PlatformDeps, parts: ChannelParts) {
    this.lane = laneOf(parts.account);
    this.version = JSON.stringify([parts.account.settings, parts.connector.declaration ?? ""]);
    this.#deps = deps;
    this.#connector = parts.connector;
    this.#lent = parts.lent;
    this.#account = parts.account;
  }

  get ratePerS(): number {
    return this.#account.ratePerS;
  }

  plan(parcel: Parcel): Plan {
    const conversion = conversionOf(parcel);
    // During a replay of the journal, a waiting postback exists before its user.
    if (!conversion) return { kind: "attempt", deliver: async () => WITHOUT_USER };
    if (isOfThePast(parcel, this.#deps.clock())) return { kind: "skip", reason: "late" };
    const prepared = this.#prepare(conversion);
    if (prepared.kind === "skip") return prepared;
    const account = this.#account;
    return {
      kind: "attempt",
      deliver: async () => {
        // Another attempt may have got a new token meanwhile.
        const current = account === this.#account ? prepared : this.#prepare(conversion);
        return this.#deliver(conversion, parcel, current);
      },
    };
  }

  async #deliver(conversion: Conversion, parcel: Parcel, prepared: Prepared): Promise<Delivery> {
    const used = this.#account.secrets.access_token ?? "";
    const first = await this.#try(prepared, parcel);
    if (first.kind !== "token") return first;
    const { tokens: flow, ownKey } = this.#connector;
    // A person gave the key, and only a person can give another one.
    if (ownKey !== undefined && this.#account.secrets[ownKey]) {
      return this.#withoutToken(`${ownKey} was refused: ${first.reason}`);
    }
    // Only the app's own server can bring another token; until it does, this waits.
    if (!flow) return { kind: "later", reason: first.reason, isDown: false };
    const { fields } = this.#connector;
    const refreshed = await this.#deps.tokens.refresh(this.#account, { flow, fields, used });
    if (refreshed.kind !== "refreshed") return this.#withoutToken(`${first.reason} No new token: ${refreshed.reason}`);
    this.#account = refreshed.account;
    const second = await this.#try(this.#prepare(conversion), parcel);
    return second.kind === "token" ? this.#withoutToken(`Refused with a new token as well: ${second.reason}`) : second;
  }

  /**
   * The account is at fault, not the postback. Until a person authorises the account again, all its postbacks wait, as
   * if the platform were down.
   */
  async #withoutToken(reason: string): Promise<Delivery> {
    await noteAccountError(this.#deps.pool, this.#account, { text: reason, atMs: this.#deps.clock() });
    return { kind: "later", reason, isDown: true };
  }

  async #try(prepared: Prepared, { row, valueCents }: Parcel): Promise<Delivery | { kind: "token"; reason: string }> {
    if (prepared.kind === "skip") return { kind: "skipped", reason: prepared.reason };
    const mayRepeat = prepared.dedupes || this.#account.settings.repeats === "yes";
    if (row.wasInFlight && !mayRepeat) return { kind: "given_up", reason: ANSWER_LOST };
    const sent = await this.#deps.sender.send(prepared.request, mayRepeat ? "kept" : "fresh");
    switch (sent.kind) {
      case "not_sent":
        return { kind: "later", reason: sent.reason, isDown: true };
      case "unknown":
        return mayRepeat
          ? { kind: "later", reason: sent.reason, isDown: true }
          : { kind: "given_up", reason: `${sent.reason} ${ANSWER_LOST}` };
      case "reply":
        return deliveryOf(this.#connector.read(sent.reply, prepared.request), {
          status: sent.reply.status,
          cents: this.#connector.tellsMoney === "no" ? 0 : (valueCents ?? 0),
        });
    }
  }

  #prepare(conversion: Conversion): Prepared {
    const parts = { account: this.#account, connector: this.#connector, lent: this.#lent };
    return preparedBy(parts, conversion, this.#deps.clock());
  }
}

/** What a channel would send, without sending it; undefined when the user is gone. */
export function preparedFor(parts: ChannelParts, parcel: Parcel, nowMs: number): Prepared | undefined {
  const conversion = conversionOf(parcel);
  return conversion && preparedBy(parts, conversion, nowMs);
}

function preparedBy({ account, connector, lent }: ChannelParts, conversion: Conversion, nowMs: number): Prepared {
  const settings = settingsOfAccount(account, connector.fields, lent);
  return connector.prepare(conversion, { account: settings, nowMs, nonce: newNonce() });
}

/** The app's tokens of mini-game platforms and secrets of ad platforms: see loadMediaTokens and loadPlatformSecrets. */
export type Lenders = { tokens: ByApp; secrets: ByApp };
type ByApp = ReadonlyMap<number, ReadonlyMap<string, string>>;

/** Nothing is lent to a declared connector: its address is whatever a person has written. */
export function lentTo(account: PlatformAccount, connector: PostbackConnector, { tokens, secrets }: Lenders): Lent {
  if (connector.declaration !== undefined) return {};
  return {
    // The token does not belong to the account: it is sent to WeChat only, not to another address of the account.
    wechat_access_token: isOwnAddress(account, "wechat_url") ? (tokens.get(account.appId)?.get("wechat") ?? "") : "",
    akey: secrets.get(account.appId)?.get("baidu akey") ?? "",
  };
}

function deliveryOf(
  verdict: ReplyVerdict,
  { status, cents }: { status: number; cents: number },
): Delivery | { kind: "token"; reason: string } {
  switch (verdict.kind) {
    case "accepted":
      return { kind: "accepted", cents };
    case "retry":
      return { kind: "later", reason: verdict.reason, isDown: status >= 500 };
    case "permanent":
      return { kind: "given_up", reason: verdict.reason };
    case "token":
      return { kind: "token", reason: verdict.reason };
  }
}

export function conversionOf(parcel: Parcel): Conversion | undefined {
  const { row, user, moment, touchKind, atMs, valueCents, traceId, dedupeId } = parcel;
  if (!user) return undefined;
  const { clientId, wxOpenid, wxUnionid, osPlatform, ip, ua, device } = user;
  return {
    eventType: row.eventType as PostbackEventType,
    code: typeof row.content.code === "string" ? row.content.code : "",
    moment,
    atMs,
    touchKind,
    cents: valueCents,
    orderId: traceId,
    dedupeId,
    adData: isObject(row.content.ad_data) ? row.content.ad_data : ({} satisfies JsonObject),
    user: { clientId, wxOpenid, wxUnionid, osPlatform, ip, ua, device },
  };
}

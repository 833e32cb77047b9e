import { isObject } from "../domain/json.ts";
import { isPrivateHost } from "../domain/network.ts";
import { POSTBACK_EVENT_TYPES } from "../domain/postback/postback.ts";
import { readSwitch } from "../domain/postback/postback-rule-fields.ts";
import { ApiError } from "../errors.ts";
import { LIMITS } from "../limits.ts";
import { CALLBACK_HOSTS, hostsOf } from "./connector/callback.ts";
import type { AccountField } from "./connector/connector.ts";
import { CODED, type Connectors } from "./connectors.ts";
import { COST_PLATFORMS, costConnectorOf, platformNamed } from "./registry.ts";

/** Platforms with accounts in every app. */
export const ACCOUNT_PLATFORMS: readonly string[] = CODED.accountPlatforms;

/** What a field is for. */
export type AccountUse = "postbacks" | "costs";

export type KnownField = AccountField & { uses: readonly AccountUse[] };

/**
 * Common to all platforms: what to do when a platform may already have counted a postback and does not detect repeats.
 */
const REPEATS: AccountField = {
  name: "repeats",
  hint: "yes: send again when an answer was lost, even if the platform does not detect repeats and may count twice.",
  fallback: "no",
};

/** The platform's own name. */
export function readAccountPlatform(text: string, connectors: Connectors = CODED): string {
  const name = platformNamed(text.toLowerCase())?.name ?? text.toLowerCase();
  const { accountPlatforms } = connectors;
  if (accountPlatforms.includes(name)) return name;
  throw bad(
    `There are no accounts at ${JSON.stringify(text)}; platforms with accounts are ${accountPlatforms.join(", ")}.`,
  );
}

/** The fields of an account at a platform: those that its connectors ask for, each name once. */
export function accountFieldsOf(platform: string, connectors: Connectors = CODED): KnownField[] {
  const fields = new Map<string, KnownField>();
  const take = (own: readonly AccountField[], use: AccountUse) => {
    for (const field of own) {
      const known = fields.get(field.name);
      fields.set(field.name, known ? { ...known, uses: [...known.uses, use] } : { ...field, uses: [use] });
    }
  };
  const [postbacks, costs] = [connectors.postbackOf(platform), costConnectorOf(platform)];
  if (postbacks) take([...postbacks.fields, REPEATS], "postbacks");
  if (costs) take(costs.fields, "costs");
  return [...fields.values()];
}

const URL_FIELD = /(?:^|_)url$/;
/** A whole host name or address, with an optional port; IPv6 in brackets. */
const HOST = /^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:.]+\])(?::\d{1,5})?$/;

/** The fields with addresses that are called for a use. */
export function addressFieldsOf(platform: string, use: AccountUse): string[] {
  return accountFieldsOf(platform).flatMap(({ name, uses }) =>
    uses.includes(use) && URL_FIELD.test(name) ? name : [],
  );
}

type Values = Readonly<Record<string, string>>;

/** The fields with addresses or callback hosts that a change moves away from the platform's own. */
export function movedAddresses(platform: string, { before, after }: { before: Values; after: Values }): string[] {
  return accountFieldsOf(platform)
    .filter(({ name }) => URL_FIELD.test(name) || name === CALLBACK_HOSTS)
    .filter(({ name, fallback }) => {
      const [was, is] = [before[name] || fallback, (after[name] ?? before[name]) || fallback];
      return is !== was && is !== fallback;
    })
    .map(({ name }) => name);
}

/** Whether an address of an account is the platform's own. A stand-in on a private network counts as its own. */
export function isOwnAddress(account: { adPlatform: string; settings: Values }, name: string): boolean {
  const set = account.settings[name];
  const field = accountFieldsOf(account.adPlatform).find((known) => known.name === name);
  if (!set || !field) return true;
  const { hostname, protocol } = new URL(set);
  return isPrivateHost(hostname) || (protocol === "https:" && hostname === new URL(field.fallback).hostname);
}

/** A change of an account, as given. */
export type GivenAccount = {
  settings?: Readonly<Record<string, string>> | undefined;
  secrets?: Readonly<Record<string, string>> | undefined;
  postbacks?: string | undefined;
  costs?: string | undefined;
  rate?: string | undefined;
};

export type AccountChange = {
  /** Values of settings and secrets; an empty text removes one. */
  values: Readonly<Record<string, string>>;
  postbacks: boolean | undefined;
  costs: boolean | undefined;
  ratePerS: number | undefined;
};

const RATE_MAX = 10_000;

/** `mayCallPrivate`: whether addresses of private networks may be called. */
export function readAccount(
  platform: string,
  given: GivenAccount,
  { mayCallPrivate, connectors = CODED }: { mayCallPrivate: boolean; connectors?: Connectors },
): AccountChange {
  const fields = accountFieldsOf(platform, connectors);
  const values: Record<string, string> = {};
  for (const [name, text] of Object.entries(given.settings ?? {})) {
    if (fieldNamed(platform, fields, name).isSecret)
      throw bad(`${name} is a secret; pass it as a secret, not as a setting.`);
    values[name] = readSetting(name, text);
    if (!mayCallPrivate) assertPublic(name, text);
  }
  for (const [name, text] of Object.entries(given.secrets ?? {})) {
    if (!fieldNamed(platform, fields, name).isSecret) throw bad(`${name} is not a secret; pass it as a setting.`);
    values[name] = bounded(name, text);
  }
  const postbacks = given.postbacks === undefined ? undefined : readSwitch("postbacks", given.postbacks);
  const costs = given.costs === undefined ? undefined : readSwitch("costs", given.costs);
  if (postbacks && !connectors.postbackOf(platform)) throw bad(`${platform} does not accept postbacks.`);
  if (costs && !COST_PLATFORMS.includes(platform)) throw bad(`Costs cannot be pulled from ${platform}.`);
  return { values, postbacks, costs, ratePerS: given.rate === undefined ? undefined : readRate(given.rate) };
}

/** The empty text means all advertisers without an account of their own. */
export function readAdvertiserId(text: string): string {
  if (/^[^\s\u0000-\u001f\ufffd]{0,128}$/u.test(text)) return text;
  throw bad("advertiser_id must be at most 128 characters, without spaces.");
}

function fieldNamed(platform: string, fields: readonly KnownField[], name: string): KnownField {
  const field = fields.find((known) => known.name === name);
  if (field) return field;
  const names = fields.map((known) => known.name).join(", ");
  throw bad(`An account at ${platform} has no field ${JSON.stringify(name)}; its fields are ${names}.`);
}

function readSetting(name: string, text: string): string {
  if (text === "") return text;
  if (name === "repeats" && !["yes", "no"].includes(text)) throw bad("repeats must be yes or no.");
  if (URL_FIELD.test(name) && !isWebAddress(text)) {
    throw bad(`${name} must be an address that begins with http:// or https://.`);
  }
  if (name === CALLBACK_HOSTS && !hostsOf(text).every(isHost)) {
    throw bad(`${name} must be full host names separated by commas, without wildcards.`);
  }
  if (/^codes(?:_|$)/.test(name)) assertCodes(name, text);
  return bounded(name, text);
}

function isHost(text: string): boolean {
  return HOST.test(text) && URL.canParse(`http://${text}`);
}

function assertPublic(name: string, text: string): void {
  const hosts =
    URL_FIELD.test(name) && text !== "" ? [new URL(text).host] : name === CALLBACK_HOSTS ? hostsOf(text) : [];
  const inside = hosts.find((host) => isPrivateHost(new URL(`http://${host}`).hostname));
  if (inside === undefined) return;
  throw bad(`${name}: ${inside} is an address of a private network; PLATFORM_PRIVATE_NETWORKS=allow allows them.`);
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

function assertCodes(name: string, text: string): void {
  const codes = jsonOf(text);
  const isCodes =
    isObject(codes) && Object.values(codes).every((code) => typeof code === "string" || typeof code === "number");
  if (!isCodes) throw bad(`${name} must be a JSON object of texts, such as {"key_active":"CUSTOM"}.`);
  const unknown = Object.keys(codes).find((type) => !(POSTBACK_EVENT_TYPES as readonly string[]).includes(type));
  if (unknown !== undefined) throw bad(`${name}: ${JSON.stringify(unknown)} is not an event type.`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function bounded(name: string, text: string): string {
  if (Buffer.byteLength(text) > LIMITS.accountValueBytes || text.includes("\u0000")) {
    throw bad(`${name} must be a text of at most ${LIMITS.accountValueBytes} bytes.`);
  }
  return text;
}

function readRate(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= RATE_MAX) return Number(text);
  throw bad(`rate must be a whole number of calls per second up to ${RATE_MAX}; 0 means no limit.`);
}

function bad(message: string): ApiError {
  return new ApiError("badParameter", message);
}

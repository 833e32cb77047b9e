import { availableParallelism } from "node:os";
import { readAddress } from "./db/server/address.ts";
import { type Grants, readGrants } from "./domain/access/role.ts";
import { isLoopbackHost, isNetwork } from "./domain/network.ts";
import { type JetStreamAddress, readJetStreamAddress } from "./journal/jetstream/address.ts";
import { type BucketAddress, readBucketAddress } from "./lake/bucket/address.ts";
import { GIB, KIB, LIMITS, MIB } from "./limits.ts";

/** Readers of settings. Each reads the text of one setting, and throws what is wrong with it. */
export function integer(min: number, max: number) {
  return (text: string): number => {
    const number = Number(text);
    if (!/^\d+$/.test(text) || number < min || number > max)
      throw new Error(`must be a whole number from ${min} to ${max}.`);
    return number;
  };
}

export function bytes(min: number, max: number) {
  const units: Record<string, number> = { "": 1, B: 1, KIB: KIB, MIB: MIB, GIB: GIB };
  return (text: string): number => {
    const match = /^(\d+)\s*([KMG]iB|B)?$/i.exec(text);
    const number = match ? Number(match[1]) * units[(match[2] ?? "").toUpperCase()]! : Number.NaN;
    if (!(number >= min && number <= max)) throw new Error(`must be a size such as 2MiB, from ${min} to ${max} bytes.`);
    return number;
  };
}

export function oneOf<const T extends readonly string[]>(choices: T) {
  return (text: string): T[number] => {
    if (!choices.includes(text)) throw new Error(`must be one of ${choices.join(", ")}.`);
    return text;
  };
}

export function nonEmpty(text: string): string {
  if (text === "") throw new Error("must not be empty.");
  return text;
}

/** A number of seconds, read as milliseconds. */
export function milliseconds(min: number, max: number) {
  return (text: string): number => integer(min, max)(text) * 1000;
}

const INTAKE_THREADS_MAX = 64;
/** More do not help: then the main thread is the one that is busy. */
const INTAKE_THREADS_UNASKED = 16;

/** Undefined: as many as `unaskedThreads` says. */
export function intakeThreads(text: string): number | undefined {
  return text === "" ? undefined : integer(0, INTAKE_THREADS_MAX)(text);
}

/** The main thread has a core of its own. Where data is applied too, another one is left to apply and to its database. */
export function unaskedThreads(roles: ReadonlySet<string>, cores = availableParallelism()): number {
  const others = roles.has("apply") ? 2 : 1;
  return Math.min(INTAKE_THREADS_UNASKED, Math.max(0, cores - others));
}

/** The parts of a list that is separated by commas. */
export function listed(text: string): string[] {
  const parts = text.split(",").map((part) => part.trim());
  return parts.filter((part) => part !== "");
}

/** A number of hours, read as milliseconds. */
export function hours(min: number, max: number) {
  return (text: string): number => integer(min, max)(text) * 3_600_000;
}

/** Empty, or long enough that a stolen backup does not invite guessing. */
export function passphrase(text: string): string {
  if (text !== "" && [...text].length < LIMITS.passphraseLengthMin)
    throw new Error(`must have at least ${LIMITS.passphraseLengthMin} characters.`);
  return text;
}

export function addresses(text: string): string[] {
  const list = listed(text);
  const bad = list.find((part) => !isNetwork(part));
  if (bad !== undefined) throw new Error(`${JSON.stringify(bad)} is not an address or a network.`);
  return list;
}

export function databaseUrl(text: string): string {
  if (text !== "" && !/^postgres(ql)?:\/\//.test(text))
    throw new Error("must begin with postgres:// or postgresql://.");
  if (text !== "") readAddress(text);
  return text;
}

/** One host: with several, the driver could not tell which of them is a replica. */
export function replicaUrl(text: string): string {
  if (databaseUrl(text) !== "" && readAddress(text).hosts.length > 1)
    throw new Error("must name one host: a replica, or a balancer in front of several.");
  return text;
}

export function httpUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:/.test(text))
    throw new Error("must be an address that begins with http:// or https://.");
  return text;
}

export function secretKey(text: string): string {
  if (text !== "" && !/^[0-9a-fA-F]{64}$/.test(text)) throw new Error("must be 64 hex digits.");
  return text.toLowerCase();
}

/** The address of an identity provider. Plain HTTP is for stand-ins on this machine only. */
export function issuerUrl(text: string): string {
  if (text === "") return text;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlainHere = url?.protocol === "http:" && isLoopbackHost(url.hostname.replace(/^\[|\]$/g, ""));
  if (!url || !(url.protocol === "https:" || isPlainHere) || url.search !== "" || url.hash !== "")
    throw new Error("must be an address that begins with https://, without a query.");
  return text;
}

export function oidcScopes(text: string): string {
  const scopes = text.split(/[\s,]+/);
  if (!scopes.includes("openid")) throw new Error("must contain openid.");
  return scopes.join(" ");
}

/** Roles by group. */
export function groupRoles(text: string): ReadonlyMap<string, Grants> {
  if (text === "") return new Map();
  const found: unknown = parsed(text);
  if (typeof found !== "object" || found === null || Array.isArray(found))
    throw new Error('must be JSON such as {"bi": "analyst=1,2"}.');
  const roles = Object.entries(found).map(([group, roleText]): [string, Grants] => {
    const grants = typeof roleText === "string" ? readGrants(roleText) : undefined;
    if (!grants) throw new Error(`${JSON.stringify(group)} must have roles such as "viewer operator=1,2".`);
    return [group, grants];
  });
  return new Map(roles);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Empty, or the address of a log. */
export function logUrl(text: string): JetStreamAddress | undefined {
  return text === "" ? undefined : readJetStreamAddress(text);
}

/** Empty, or the address of a bucket. */
export function bucketUrl(text: string): BucketAddress | undefined {
  return text === "" ? undefined : readBucketAddress(text);
}

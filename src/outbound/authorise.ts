import type { Clock } from "../clock.ts";
import type { AccountQuestion, AuthorisationFlow, SeenAccount } from "../platform/connector/authorisation.ts";
import { type AccountField, settingsOf } from "../platform/connector/connector.ts";
import { masked } from "../platform/connector/verdict.ts";
import { newNonce } from "./account-token.ts";
import type { Sender } from "./sender.ts";

/** What an authorisation has brought: fields with tokens for all its accounts, and these accounts. */
export type Granted = {
  values: Readonly<Record<string, string>>;
  tokenExpiresAtMs: number | null;
  refreshExpiresAtMs: number | null;
  accounts: SeenAccount[];
  /** The number of entries that cannot be connected. */
  leftOut: number;
  /** Why the list of accounts may be incomplete; the empty text when it is whole. */
  trouble: string;
};

type Values = Readonly<Record<string, string>>;

export type AuthoriseDeps = { sender: Sender; clock: Clock };

type Grant = {
  flow: AuthorisationFlow;
  fields: readonly AccountField[];
  /** The developer application and the addresses. */
  values: Values;
  returned: { code: string; user: string; redirectUrl: string };
};

/** Exchanges a code for tokens and asks which accounts they may see. A code is good for one try. */
export async function exchangeCode(
  deps: AuthoriseDeps,
  { flow, fields, values, returned }: Grant,
): Promise<({ kind: "granted" } & Granted) | { kind: "refused"; reason: string }> {
  const nowMs = deps.clock();
  const request = flow.exchange(returned, { account: settingsOf(fields, values), nowMs, nonce: newNonce() });
  const sent = await deps.sender.send(request, "fresh");
  if (sent.kind !== "reply") return { kind: "refused", reason: sent.reason };
  const grant = flow.read(sent.reply, nowMs);
  if (grant.kind !== "token") return { kind: "refused", reason: grant.reason };
  const seen = await seenAccounts(deps, { flow, fields, values: { ...values, ...grant.values } }, grant.next);
  const { values: tokens, expiresAtMs: tokenExpiresAtMs, refreshExpiresAtMs } = grant;
  return { kind: "granted", values: tokens, tokenExpiresAtMs, refreshExpiresAtMs, ...seen };
}

const CODE_CHARACTERS_MAX = 1_024;
/** Under these names platforms say why they send a person back without a code. */
const REASONS = ["error_description", "error", "message", "msg"];

/** The code among the parameters with which the platform has sent a person back, or why there is none. */
export function returnedCode(
  { returned: { code: name, user = "" } }: Pick<AuthorisationFlow, "returned">,
  parameters: Values,
): { kind: "code"; code: string; user: string } | { kind: "refused"; reason: string } {
  const code = parameters[name] ?? "";
  if (code !== "" && code.length <= CODE_CHARACTERS_MAX) return { kind: "code", code, user: parameters[user] ?? "" };
  const said = REASONS.map((reason) => parameters[reason] ?? "").find((text) => text !== "");
  const why = said === undefined ? "" : `: ${masked(said.replace(/\s+/g, " "))}`;
  return { kind: "refused", reason: `The platform gave no authorisation${why}.` };
}

/** More pages than any person reads; what comes after them can still be entered by hand. */
const CALLS_MAX = 50;
const LIST_MS_MAX = 60_000;

const TROUBLE_CHARACTERS_MAX = 500;

type Seen = Pick<Granted, "accounts" | "leftOut" | "trouble">;

/** A list that fails in part is shown without that part: the tokens are good, and the code cannot be used again. */
async function seenAccounts(
  { sender, clock }: AuthoriseDeps,
  { flow, fields, values }: Omit<Grant, "returned">,
  first: readonly AccountQuestion[],
): Promise<Seen> {
  const found = new Map<string, SeenAccount>();
  const troubles = new Set<string>();
  const tooLong = AbortSignal.timeout(LIST_MS_MAX);
  const open = [...first];
  let leftOut = 0;
  for (let calls = 0; open.length > 0 && calls < CALLS_MAX && !tooLong.aborted; calls += 1) {
    const question = open.shift()!;
    const context = { account: settingsOf(fields, values), nowMs: clock(), nonce: newNonce() };
    const sent = await sender.send(flow.request(question, context), "kept", tooLong);
    const page = sent.kind === "reply" ? flow.readAccounts(question, sent.reply) : sent;
    if (page.kind !== "page") {
      troubles.add(page.reason);
      continue;
    }
    for (const account of page.accounts) found.set(account.advertiserId, account);
    leftOut += page.leftOut;
    open.push(...page.next);
  }
  if (open.length > 0) troubles.add("The platform has more accounts than could be listed.");
  return { accounts: [...found.values()], leftOut, trouble: [...troubles].join(" ").slice(0, TROUBLE_CHARACTERS_MAX) };
}

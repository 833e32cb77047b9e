import type { AccountSettings, CallContext, HttpReply, HttpRequest, TokenAnswer } from "./connector.ts";

/** An account that an authorisation may see. `values` are fields of this account alone, such as its name at the platform. */
export type SeenAccount = { advertiserId: string; name: string; values: Readonly<Record<string, string>> };

/** A call for accounts that is still to be made, as plain data. */
export type AccountQuestion = Readonly<Record<string, string | number>>;

export type AccountPage =
  | {
      kind: "page";
      accounts: SeenAccount[];
      /** The number of entries that are no accounts of advertisers, or whose authorisation is no longer valid. */
      leftOut: number;
      next: AccountQuestion[];
    }
  | { kind: "retry" | "permanent" | "token"; reason: string };

/** The platform's answer to a code: tokens for all accounts together, and what to ask for these accounts. */
export type GrantAnswer =
  | (Extract<TokenAnswer, { kind: "token" }> & { next: AccountQuestion[] })
  | Exclude<TokenAnswer, { kind: "token" }>;

/**
 * How a person authorises us on a page of the platform, which sends them back with a code. Pure, like the other
 * connectors. None of these platforms has PKCE: what ties the code to the person is the state, and to us the secret.
 */
export type AuthorisationFlow = {
  /** The fields of the developer application; `scope` where the page must be told what is asked for. */
  client: { id: string; secret: string; scope?: string };
  /** The parameters with which the platform sends people back; `user` where the exchange needs it. */
  returned: { code: string; user?: string };
  /** The address of the platform's page. */
  page(ask: { account: AccountSettings; redirectUrl: string; state: string }): string;
  exchange(returned: { code: string; user: string; redirectUrl: string }, context: CallContext): HttpRequest;
  read(reply: HttpReply, nowMs: number): GrantAnswer;
  /** The account's settings hold the new tokens. */
  request(question: AccountQuestion, context: CallContext): HttpRequest;
  readAccounts(question: AccountQuestion, reply: HttpReply): AccountPage;
};

/** The tokens of an answer, with the questions that they allow. */
export function grantOf(answer: TokenAnswer, next: AccountQuestion[]): GrantAnswer {
  return answer.kind === "token" ? { ...answer, next } : answer;
}

/** Accounts without further fields. Entries without an id are none. */
export function seenAccounts(accounts: readonly { id: string; name: string }[]): SeenAccount[] {
  return accounts.flatMap(({ id, name }) => (id === "" ? [] : [{ advertiserId: id, name, values: {} }]));
}

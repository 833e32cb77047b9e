import { setTimeout as sleep } from "node:timers/promises";
import type { PlatformAccount } from "../db/platform-account.ts";
import type { DayRange } from "../domain/cost-schedule.ts";
import { messageOf } from "../errors.ts";
import { newNonce, refreshToken, settingsOfAccount, type TokenDeps } from "../outbound/account-token.ts";
import type { Sent } from "../outbound/sender.ts";
import type { CallContext } from "../platform/connector/connector.ts";
import type {
  CostConnector,
  CostPage,
  CostQuestion,
  PulledCost,
  PulledName,
} from "../platform/connector/cost-connector.ts";

/** Requests to a platform, and rows, for one range of days. */
const REQUESTS_MAX = 20_000;
const ROWS_MAX = 500_000;

export type CrawlDeps = TokenDeps & {
  /** Waits before a question is repeated that the platform asked to send later. */
  waitsMs: readonly number[];
};

/** `refused`: the same question would be refused again. `failed`: it may succeed later. */
export type Gathered =
  | { kind: "gathered"; costs: PulledCost[]; names: PulledName[]; withoutNames: string }
  | { kind: "refused" | "failed"; reason: string };

type Asked = Extract<CostPage, { kind: "page" }> | { kind: "refused" | "failed"; reason: string };

type Found = { costs: PulledCost[]; names: PulledName[]; next: CostQuestion[] };

function take(page: Extract<CostPage, { kind: "page" }>, found: Found): void {
  // One by one: a page may hold more rows than a call can have arguments.
  for (const cost of page.costs) found.costs.push(cost);
  for (const name of page.names) found.names.push(name);
  for (const next of page.next) found.next.push(next);
}

/** A token with less time left is renewed first, because it could expire during the pull. */
const TOKEN_LEFT_MS = 10 * 60_000;

/** Asks a platform all questions about an account. Its result is complete, or there is none. */
export class CostCrawl {
  readonly #deps: CrawlDeps;
  readonly #connector: CostConnector;
  readonly #signal: AbortSignal;
  #account: PlatformAccount;
  #isRefreshed = false;
  #hasAnswered = false;
  readonly #named = new Set<string>();

  constructor(deps: CrawlDeps, parts: { account: PlatformAccount; connector: CostConnector; signal: AbortSignal }) {
    this.#deps = deps;
    this.#connector = parts.connector;
    this.#signal = parts.signal;
    this.#account = parts.account;
  }

  async gather(range: DayRange): Promise<Gathered> {
    await this.#refreshAhead();
    const found: Found = { costs: [], names: [], next: this.#connector.start(range, this.#context()) };
    const tellsCosts = (question: CostQuestion) => this.#connector.tellsCosts(question);
    let asked = 0;
    const open = found.next.filter(tellsCosts);
    for (let question = open.shift(); question; question = open.shift()) {
      const page = await this.#ask(question);
      if (page.kind !== "page") return page;
      take(page, found);
      open.push(...page.next.filter(tellsCosts));
      asked += 1;
      if (asked > REQUESTS_MAX || found.costs.length > ROWS_MAX) {
        return { kind: "refused", reason: `${range.fromDay} to ${range.toDay} is more than can be pulled at once.` };
      }
    }
    const rest = found.next.filter((question) => !tellsCosts(question));
    return { kind: "gathered", ...found, withoutNames: await this.#gatherNames(rest, found) };
  }

  /**
   * Gathers names. A missing name does not lose the costs, which are complete. Returns why names are missing, or "".
   */
  async #gatherNames(questions: readonly CostQuestion[], found: Found): Promise<string> {
    let without = "";
    for (const question of questions.flatMap((one) => this.#news(one)).slice(0, REQUESTS_MAX)) {
      const page = await this.#ask(question);
      if (page.kind === "page") take(page, found);
      else without ||= page.reason;
      if (page.kind === "failed") break;
    }
    return without;
  }

  /** The part of a question about names that was not asked yet: the same ad has costs on many days. */
  #news(question: CostQuestion): CostQuestion[] {
    const ids = String(question.ids ?? "").split(",");
    const fresh = ids.filter((id) => !this.#named.has(`${question.list} ${id}`));
    for (const id of fresh) this.#named.add(`${question.list} ${id}`);
    if (fresh.length === 0) return [];
    return [question.ids === undefined ? question : { ...question, ids: fresh.join(",") }];
  }

  async #ask(question: CostQuestion): Promise<Asked> {
    for (let tries = 0; ; tries += 1) {
      const page = await this.#call(question);
      switch (page.kind) {
        case "page":
          this.#hasAnswered = true;
          return page;
        case "permanent":
          return { kind: "refused", reason: page.reason };
        case "token": {
          const trouble = await this.#refresh(page.reason);
          if (trouble) return trouble;
          break;
        }
        case "retry": {
          const waitMs = this.#deps.waitsMs[tries];
          // A platform that has not answered anything yet is down, and is asked again much later. One that has answered
          // before was only asked too fast.
          if (!this.#hasAnswered || waitMs === undefined) return { kind: "failed", reason: page.reason };
          await sleep(waitMs, undefined, { signal: this.#signal, ref: false });
        }
      }
    }
  }

  async #call(question: CostQuestion): Promise<CostPage> {
    this.#signal.throwIfAborted();
    const context = this.#context();
    const sent = await this.#send(question, context);
    this.#signal.throwIfAborted();
    if (sent.kind === "reply") return this.#connector.read(question, sent.reply, context);
    // No answer: the platform counts as down, and waiting does not help.
    this.#hasAnswered = false;
    return { kind: "retry", reason: sent.reason };
  }

  async #send(question: CostQuestion, context: CallContext): Promise<Sent> {
    try {
      return await this.#deps.sender.send(this.#connector.request(question, context), "kept", this.#signal);
    } catch (error) {
      // An invalid address, or a token that is not a valid header.
      return { kind: "not_sent", reason: `The call cannot be made: ${messageOf(error)}.` };
    }
  }

  /** Gets a new token. Returns undefined, or the failure. */
  async #refresh(asked: string): Promise<Exclude<Asked, { kind: "page" }> | undefined> {
    if (this.#isRefreshed) return { kind: "failed", reason: `Refused with a new token as well: ${asked}` };
    const flow = this.#connector.tokens;
    if (!flow) return { kind: "refused", reason: asked };
    const { fields } = this.#connector;
    const used = this.#account.secrets.access_token ?? "";
    const refreshed = await refreshToken(this.#deps, this.#account, { flow, fields, used });
    if (refreshed.kind !== "refreshed") {
      return { kind: "failed", reason: [asked, `No new token: ${refreshed.reason}`].filter(Boolean).join(" ") };
    }
    this.#account = refreshed.account;
    this.#isRefreshed = true;
    return undefined;
  }

  /** Renews a token that expires soon. If that fails, the current one is still valid for a while. */
  async #refreshAhead(): Promise<void> {
    const { tokenExpiresAtMs } = this.#account;
    if (tokenExpiresAtMs !== null && tokenExpiresAtMs - this.#deps.clock() < TOKEN_LEFT_MS && !this.#isRefreshed) {
      await this.#refresh("");
    }
  }

  #context(): CallContext {
    const account = settingsOfAccount(this.#account, this.#connector.fields);
    return { account, nowMs: this.#deps.clock(), nonce: newNonce() };
  }
}

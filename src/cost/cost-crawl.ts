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
  CreativeCost,
  CutDay,
  HourlyCost,
  PlayerEarning,
  PulledCost,
  PulledName,
  Subject,
} from "../platform/connector/cost-connector.ts";

/** Requests to a platform, and rows, for one range of days. */
const REQUESTS_MAX = 20_000;
const ROWS_MAX = 500_000;

export type CrawlDeps = TokenDeps & {
  /** Waits before a question is repeated that the platform asked to send later. */
  waitsMs: readonly number[];
  /** Waits before asking again whether the platform has finished a report that takes it a while. */
  reportWaitsMs: readonly number[];
};

/** `refused`: the same question would be refused again. `failed`: it may succeed later. */
export type Gathered =
  | {
      kind: "gathered";
      costs: PulledCost[];
      creatives: CreativeCost[];
      hours: HourlyCost[];
      /** One for each player, day and currency, by the text of these. */
      earnings: Map<string, PlayerEarning>;
      planTotals: PulledCost[];
      /** Undefined when the platform has not told the account's totals. */
      totals: PulledCost[] | undefined;
      cut: CutDay[];
      names: PulledName[];
      /** Why creatives, hours or totals are missing, by subject. */
      withoutTotals: ReadonlyMap<Subject, string>;
      withoutNames: string;
    }
  | { kind: "refused" | "failed"; reason: string };

type Page = Extract<CostPage, { kind: "page" }>;
type Asked = Page | { kind: "refused" | "failed"; reason: string };

type Found = Omit<Extract<Gathered, { kind: "gathered" }>, "kind" | "withoutTotals" | "withoutNames">;

function take(page: Page, found: Found): void {
  // One by one: a page may hold more rows than a call can have arguments.
  for (const cost of page.costs) found.costs.push(cost);
  for (const cost of page.creatives ?? []) found.creatives.push(cost);
  for (const cost of page.hours ?? []) found.hours.push(cost);
  for (const earning of page.earnings ?? []) addEarning(earning, found.earnings);
  for (const total of page.planTotals ?? []) found.planTotals.push(total);
  if (page.totals) {
    found.totals ??= [];
    for (const total of page.totals) found.totals.push(total);
  }
  for (const day of page.cut ?? []) found.cut.push(day);
  for (const name of page.names) found.names.push(name);
}

/** Added up while pages come: a day has a record for every ad, and far fewer players. */
function addEarning(earning: PlayerEarning, earnings: Map<string, PlayerEarning>): void {
  const { day, openId, currency, views, micros } = earning;
  const key = JSON.stringify([day, openId, currency]);
  const known = earnings.get(key);
  earnings.set(key, known ? { ...known, views: known.views + views, micros: known.micros + micros } : earning);
}

/** Questions that are still to be asked, by subject. */
class Open {
  readonly #questions: Record<Subject, CostQuestion[]> = {
    creatives: [],
    hours: [],
    costs: [],
    plan_totals: [],
    totals: [],
    names: [],
  };
  readonly #connector: CostConnector;

  constructor(connector: CostConnector) {
    this.#connector = connector;
  }

  add(questions: readonly CostQuestion[]): void {
    for (const question of questions) this.#questions[this.#connector.subjectOf(question)].push(question);
  }

  /** The next question about creatives, hours, costs or totals, in the order of subjects. */
  next(): { subject: Exclude<Subject, "names">; question: CostQuestion } | undefined {
    for (const subject of ["creatives", "hours", "costs", "plan_totals", "totals"] as const) {
      const question = this.#questions[subject].shift();
      if (question) return { subject, question };
    }
    return undefined;
  }

  names(): readonly CostQuestion[] {
    return this.#questions.names;
  }
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
    const found: Found = {
      costs: [],
      creatives: [],
      hours: [],
      earnings: new Map(),
      planTotals: [],
      totals: undefined,
      cut: [],
      names: [],
    };
    const open = new Open(this.#connector);
    open.add(this.#connector.start(range, this.#context()));
    const withoutTotals = new Map<Subject, string>();
    let asked = 0;
    for (let one = open.next(); one; one = open.next()) {
      const page = await this.#ask(one.question);
      if (page.kind === "page") {
        take(page, found);
        open.add(page.next);
      } else if (page.kind === "refused" && one.subject !== "costs") withoutTotals.set(one.subject, page.reason);
      else return page;
      asked += 1;
      const rows = found.costs.length + found.creatives.length + found.hours.length + found.earnings.size;
      if (asked > REQUESTS_MAX || rows > ROWS_MAX) {
        return { kind: "refused", reason: `${range.fromDay} to ${range.toDay} is more than can be pulled at once.` };
      }
    }
    // Some pages of the account's totals are worse than none: the missing days would count as days without costs.
    if (withoutTotals.has("totals")) found.totals = undefined;
    const withoutNames = await this.#gatherNames(open.names(), found);
    return { kind: "gathered", ...found, withoutTotals, withoutNames };
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
    for (let [tries, waits] = [0, 0]; ; ) {
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
        case "wait": {
          this.#hasAnswered = true;
          const waitMs = this.#deps.reportWaitsMs[waits];
          if (waitMs === undefined) return { kind: "failed", reason: page.reason };
          waits += 1;
          await sleep(waitMs, undefined, { signal: this.#signal, ref: false });
          break;
        }
        case "retry": {
          const waitMs = this.#deps.waitsMs[tries];
          tries += 1;
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

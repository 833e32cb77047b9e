import type pg from "pg";
import { type Clock, elapsedMs } from "../clock.ts";
import { callable } from "../domain/network.ts";
import { laneOf } from "../domain/postback/postback-book.ts";
import type { TestNote, TestVerdict } from "../domain/postback/postback-test.ts";
import { ApiError } from "../errors.ts";
import { TokenDesk } from "../outbound/account-token.ts";
import { Sender, type SenderOptions, type Sent } from "../outbound/sender.ts";
import type { HttpRequest } from "../platform/connector/connector.ts";
import { clickFieldsOf, type Marked, markedAsTest } from "../platform/test-click.ts";
import type { Vault } from "../vault.ts";
import { Pace } from "./breaker.ts";
import type { Delivery } from "./channel.ts";
import { CallMask, type ShownAnswer, type ShownRequest } from "./masked-call.ts";
import { PlatformChannel } from "./platform-channel.ts";
import type { PreparedTest } from "./test-postback.ts";

export type TestOutcome = {
  testId: string;
  atMs: number;
  /** The platform's mark of tests; empty when none was sent. */
  mark: string;
  request: ShownRequest;
  answer: ShownAnswer | null;
  verdict: TestVerdict;
  /** Empty when it was accepted. */
  reason: string;
  notes: TestNote[];
};

export type TestDeskOptions = {
  pool: pg.Pool;
  vault: Vault;
  clock: Clock;
  /** The clock for calls per second. */
  elapsed?: Clock;
  deadlineMs: number;
  mayCallPrivate: boolean;
};

/** Tests in progress in this process. Each may hold a database connection while the platform issues a token. */
const AT_ONCE_MAX = 4;
/** Accounts whose calls per second are remembered. */
const PACES_MAX = 1_000;

/** Sends test conversions: one at a time per app, by the channel of real postbacks, at most at the account's rate. */
export class TestDesk {
  readonly #options: TestDeskOptions;
  readonly #elapsed: Clock;
  readonly #apps = new Set<number>();
  readonly #paces = new Map<string, { perS: number; pace: Pace }>();

  constructor(options: TestDeskOptions) {
    this.#options = options;
    this.#elapsed = options.elapsed ?? elapsedMs;
  }

  /** `begin` checks and notes the test; it calls `admit` before the note. */
  async run(appId: number, begin: () => Promise<PreparedTest>): Promise<TestOutcome> {
    if (this.#apps.has(appId) || this.#apps.size >= AT_ONCE_MAX)
      throw new ApiError("overloaded", "Another test is in progress: wait for its answer.", { retryAfterS: 5 });
    this.#apps.add(appId);
    try {
      return await this.#send(await begin());
    } finally {
      this.#apps.delete(appId);
    }
  }

  /** Refuses a test that would exceed the account's calls per second. */
  admit({ parts: { account } }: PreparedTest): void {
    const pace = this.#paceOf(laneOf(account), account.ratePerS);
    if (pace.room(this.#elapsed(), 1) === 0)
      throw new ApiError("overloaded", "The account's calls per second are used up: try again.", { retryAfterS: 1 });
    pace.took(1);
  }

  #paceOf(lane: string, perS: number): Pace {
    const known = this.#paces.get(lane);
    if (known?.perS === perS) return known.pace;
    const pace = new Pace(perS);
    this.#paces.delete(lane);
    const [oldest] = this.#paces.keys();
    if (oldest !== undefined && this.#paces.size >= PACES_MAX) this.#paces.delete(oldest);
    this.#paces.set(lane, { perS, pace });
    return pace;
  }

  async #send(test: PreparedTest): Promise<TestOutcome> {
    const { pool, vault, clock, deadlineMs, mayCallPrivate } = this.#options;
    const { parts, parcel } = test;
    const options = { deadlineMs, connectionsMax: 1, mayCall: callable({ mayCallPrivate }) };
    const mark = (request: HttpRequest) =>
      test.mark === "on" ? markedAsTest(parts.account.adPlatform, request) : undefined;
    const sender = new WatchedSender(options, mark);
    // The answers to token calls hold secrets, so nobody watches them.
    const tokenSender = new Sender(options);
    const tokens = new TokenDesk({ pool, vault, clock, sender: tokenSender });
    try {
      const channel = new PlatformChannel({ pool, vault, clock, sender, tokens }, parts);
      const plan = channel.plan(parcel);
      const delivery: Delivery =
        plan.kind === "attempt" ? await plan.deliver() : { kind: "skipped", reason: plan.reason };
      return outcomeOf(test, delivery, sender.calls, clock());
    } finally {
      sender.close();
      tokenSender.close();
    }
  }
}

type WatchedCall = { request: HttpRequest; mark: string; sent: Sent };

/** Marks each request as a test and remembers the call. */
class WatchedSender extends Sender {
  readonly calls: WatchedCall[] = [];
  readonly #mark: (request: HttpRequest) => Marked | undefined;

  constructor(options: SenderOptions, mark: (request: HttpRequest) => Marked | undefined) {
    super(options);
    this.#mark = mark;
  }

  override async send(request: HttpRequest, connection: "kept" | "fresh"): Promise<Sent> {
    const marked = this.#mark(request) ?? { request, mark: "" };
    const sent = await super.send(marked.request, connection);
    this.calls.push({ ...marked, sent });
    return sent;
  }
}

function outcomeOf(test: PreparedTest, delivery: Delivery, calls: readonly WatchedCall[], atMs: number): TestOutcome {
  const { account, connector, lent } = test.parts;
  const call = calls.at(-1);
  // It was prepared a moment ago, so this happens only when the account changes in between.
  if (!call) throw new ApiError("badParameter", `Nothing was sent: ${"reason" in delivery ? delivery.reason : ""}`);
  const mask = new CallMask({
    secrets: [...Object.values(account.secrets), ...Object.values(lent)],
    shownNames: clickFieldsOf(account.adPlatform),
    hiddenNames: connector.hiddenNames ?? [],
  });
  const request = mask.request(call.request);
  const { sent } = call;
  const { verdict, reason } = verdictOf(delivery, sent);
  return {
    testId: test.testId,
    atMs,
    mark: call.mark,
    request,
    answer: sent.kind === "reply" ? mask.answer(sent.reply, sent.headers) : null,
    verdict,
    reason: mask.sentence(reason),
    notes: [...(calls.length > 1 ? ["new_token" as const] : []), ...(test.isOfOther ? ["other_account" as const] : [])],
  };
}

function verdictOf(delivery: Delivery, sent: Sent): Pick<TestOutcome, "verdict" | "reason"> {
  if (sent.kind === "not_sent") return { verdict: "not_sent", reason: sent.reason };
  if (sent.kind === "unknown") return { verdict: "no_answer", reason: sent.reason };
  switch (delivery.kind) {
    case "accepted":
      return { verdict: "accepted", reason: "" };
    case "later":
      return { verdict: "retry", reason: delivery.reason };
    case "given_up":
    case "skipped":
      return { verdict: "refused", reason: delivery.reason };
  }
}

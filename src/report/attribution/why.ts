import type { ExplainedCandidate, ExplainedDecision, Explanation } from "../../contract/admin/why.ts";
import type { AppRules } from "../../db/app.ts";
import { loadDecisions, type StoredDecision } from "../../db/attribution-decision.ts";
import type { Executor } from "../../db/engine/sql.ts";
import { loadUsers } from "../../db/user-account.ts";
import type { Candidate } from "../../domain/attribution/attribution.ts";
import { calendarOf } from "../../domain/calendar.ts";
import { durationText } from "../../domain/duration.ts";
import { findPatterns } from "./fraud.ts";

/** Why a user belongs to a platform, or to none. Undefined when there is no such user. */
export async function explainUser(
  executor: Executor,
  app: Pick<AppRules, "appId" | "timeZone">,
  clientId: string,
): Promise<Explanation | undefined> {
  const [user] = await loadUsers(executor, [{ appId: app.appId, clientId }]);
  if (!user) return undefined;
  const decisions = await loadDecisions(executor, user);
  const patterns = await findPatterns(executor, user);
  const explained = decisions.map((decision) => explain(decision, app.timeZone));
  const holding = explained.find(({ number }) => number === user.decisionNumber) ?? undecided(app.timeZone, user);
  return {
    client_id: clientId,
    ...holding,
    flags: [...holding.flags, ...patterns.map(({ flag }) => flag)],
    account: [holding.account, ...patterns.map(({ reason }) => reason)].join("\n"),
    decisions: explained,
  };
}

/** The explanation for a client that only sent events and was never attributed. */
function undecided(timeZone: string, user: { registeredAtMs: number }): ExplainedDecision {
  const at = calendarOf(timeZone).textOf(user.registeredAtMs);
  return {
    number: 0,
    at,
    at_ms: user.registeredAtMs,
    verdict: "organic",
    method: "",
    platform: "",
    touch: null,
    flags: [],
    keys: [],
    launch: null,
    reported: null,
    candidates: [],
    account: "The client has not registered, so nothing was decided: it counts as organic.",
  };
}

function explain(decision: StoredDecision, timeZone: string): ExplainedDecision {
  const candidates = decision.candidates.map((candidate) => explainCandidate(candidate, decision, timeZone));
  const isAttributed = decision.adPlatform !== "";
  const explained = {
    number: decision.number,
    at: calendarOf(timeZone).textOf(decision.atMs),
    at_ms: decision.atMs,
    verdict: isAttributed ? ("attributed" as const) : ("organic" as const),
    method: decision.method,
    platform: decision.adPlatform,
    touch: candidates.find(({ outcome }) => outcome === "won") ?? null,
    flags: decision.flags,
    keys: decision.subject.keys,
    launch: decision.subject.launch,
    reported: decision.subject.reported,
    candidates,
  };
  return { ...explained, account: accountOf(explained, decision) };
}

function explainCandidate(candidate: Candidate, decision: StoredDecision, timeZone: string): ExplainedCandidate {
  const { touch, matches, outcome } = candidate;
  return {
    touch_id: touch.touchId,
    platform: touch.platform,
    kind: touch.kind,
    touched_at: calendarOf(timeZone).textOf(touch.touchedAtMs),
    touched_at_ms: touch.touchedAtMs,
    campaign: touch.campaignId,
    aid: touch.aid,
    matched_by: candidate.method,
    matches: matches.map(({ method, by }) => wordsOfMatch(method, by)).join(", "),
    window: durationText(candidate.windowMs),
    window_ms: candidate.windowMs,
    flags: [...candidate.flags],
    outcome,
    reason: reasonOf(candidate, decision),
  };
}

/** Such as "device_id (oaid, imei)"; only the method's name when it has a single key. */
function wordsOfMatch(method: string, by: readonly string[]): string {
  return by.length === 1 && (by[0] === method || method === "open_id") ? method : `${method} (${by.join(", ")})`;
}

function reasonOf(candidate: Candidate, decision: StoredDecision): string {
  const gap = agoText(decision.atMs - candidate.touch.touchedAtMs);
  const window = durationText(candidate.windowMs);
  const winner = decision.candidates.find(({ outcome }) => outcome === "won");
  switch (candidate.outcome) {
    case "won":
      return `This ${candidate.touch.kind} counts: it came ${gap} before, within the window of ${window}.`;
    case "reported_stands":
      return "The caller reported where the user came from; a report overrides every touch.";
    case "earlier_method_won":
      return `${winner && winner.method !== candidate.method ? winner.method : "launch_query"} is more reliable than ${candidate.method}.`;
    case "click_won":
      return "A click beats an impression.";
    case "later_touch_won":
      return "Another touch by the same method came later, and the last one counts.";
    case "greater_id_won":
      return "Another touch at the same instant has the greater id.";
    case "after_registration":
      return "It came after the registration.";
    case "outside_window":
      return `It came ${gap} before, outside the window of ${window}.`;
    case "too_fast":
      return `It came only ${gap} before, less than the minimum time in the rules.`;
    case "impressions_off":
      return "This app's rules do not count impressions.";
    case "flagged":
      return `It is flagged (${candidate.flags.join(", ")}), and this app's rules do not let flagged touches win.`;
  }
}

function agoText(ms: number): string {
  const parts = [
    [Math.floor(ms / 86_400_000), "d"],
    [Math.floor(ms / 3_600_000) % 24, "h"],
    [Math.floor(ms / 60_000) % 60, "m"],
    [Math.floor(ms / 1_000) % 60, "s"],
  ] as const;
  const shown = parts.filter(([count]) => count > 0).slice(0, 2);
  return shown.length === 0 ? `${ms} ms` : shown.map(([count, unit]) => `${count}${unit}`).join(" ");
}

function accountOf(explained: Omit<ExplainedDecision, "account">, decision: StoredDecision): string {
  const what = decision.number === 1 ? "Registered" : "Came back";
  const { launch, campaign, reported, keys } = decision.subject;
  const lines = [
    `${what} at ${explained.at}. Known by: ${keys.length > 0 ? keys.join(", ") : "no id that a touch could share"}.`,
  ];
  if (reported !== null) lines.push(`The caller reported ${reported === "" ? "an organic user" : reported}.`);
  else if (launch !== null) lines.push(`The launch query names ${launch}.`);
  else if (campaign)
    lines.push(`The registration names the campaign ${campaign.id}, which belongs to ${campaign.platform}.`);
  lines.push(
    explained.verdict === "attributed"
      ? `Attributed to ${explained.platform} by ${explained.method}.`
      : "Organic: no touch counted.",
  );
  for (const candidate of explained.candidates) {
    const flags = candidate.flags.length > 0 ? ` [${candidate.flags.join(", ")}]` : "";
    lines.push(
      `${candidate.outcome === "won" ? "→" : " "} ${candidate.touched_at} ${candidate.platform} ${candidate.kind} ${candidate.touch_id.slice(0, 8)}, matched by ${candidate.matches}${flags}: ${candidate.outcome}. ${candidate.reason}`,
    );
  }
  if (explained.candidates.length === 0) lines.push("No stored touch shares a key with the user.");
  return lines.join("\n");
}

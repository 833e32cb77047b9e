import { type Static, Type } from "typebox";
import { DEVELOPER_STATES, type DeveloperState } from "../../domain/access/developer-state.ts";
import { LIMITS } from "../../limits.ts";
import { choice, givenName } from "../fields.ts";

const short = (description: string) => Type.String({ description, maxLength: 200 });

const id = Type.Integer({ description: "Id of the developer application", minimum: 1, maximum: LIMITS.tableInteger });
const apps = Type.Unsafe<"all" | number[]>({
  anyOf: [
    { type: "array", items: { type: "integer", minimum: 1 }, minItems: 1, maxItems: 1_000 },
    { type: "string", enum: ["all"] },
  ],
  description: "`all`, or a list of application ids",
});
const rateCalls = Type.Integer({ minimum: 1, maximum: 999_999, description: "Calls per window; default 1" });
const rateWindowS = Type.Integer({ minimum: 1, maximum: 999_999, description: "Length of the window; default 600" });

export const developerBody = Type.Object({
  name: givenName,
  purpose: Type.Optional(short("What it is for")),
  apps,
  rate_calls: Type.Optional(rateCalls),
  rate_window_s: Type.Optional(rateWindowS),
});
export type DeveloperBody = Static<typeof developerBody>;

export const developerEditBody = Type.Object({
  id,
  apps: Type.Optional(apps),
  rate_calls: Type.Optional(rateCalls),
  rate_window_s: Type.Optional(rateWindowS),
});
export type DeveloperEditBody = Static<typeof developerEditBody>;

export const developerDecisionBody = Type.Object({
  id,
  state: choice(["approved", "refused", "disabled"], "New state of the application"),
  reason: Type.Optional(short("Why")),
});
export type DeveloperDecisionBody = Static<typeof developerDecisionBody>;

export const developerIdBody = Type.Object({ id });

const state = choice<DeveloperState>(DEVELOPER_STATES, "State of the application");

/** A developer application, without its key. */
export const shownDeveloper = Type.Object({
  id,
  name: Type.String(),
  purpose: Type.String(),
  state,
  reason: Type.String({ description: "Why it was refused or disabled" }),
  apps,
  rate_calls: rateCalls,
  rate_window_s: rateWindowS,
  created_at_ms: Type.Integer({ description: "When it was requested, ms" }),
  decided_at_ms: Type.Unsafe<number | null>({
    type: ["integer", "null"],
    description: "When its state last changed, ms",
  }),
});
export type ShownDeveloper = Static<typeof shownDeveloper>;

export const developerList = Type.Object({ developers: Type.Array(shownDeveloper) });
export type DeveloperList = Static<typeof developerList>;

export const developerState = Type.Object({ id, state });

export const developerDecision = Type.Object({
  id,
  state,
  app_key: Type.Optional(Type.String({ description: "Key that signs reports; only after an approval" })),
});
export type DeveloperDecision = Static<typeof developerDecision>;

export const developerKey = Type.Object({ id, app_key: Type.String({ description: "The new key" }) });
export type DeveloperKey = Static<typeof developerKey>;

import { type Static, Type } from "typebox";
import { LIMITS } from "../../limits.ts";
import { envelopeSchema } from "../envelope.ts";
import { pageFields } from "../paging.ts";
import { pageInfo } from "../report/list-record.ts";

const appIdText = Type.String({ pattern: "^\\d{1,10}$", description: "Application id" });
const day = (description: string) => Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\d$", description });
const platform = Type.Optional(
  Type.String({ description: "Only this ad platform; `-`: costs that name none", maxLength: 40 }),
);
const advertiser = Type.Optional(
  Type.String({ description: "Only this account; `-`: costs that name none", maxLength: 200 }),
);
const money = (description: string) =>
  Type.Number({ description: `${description}, in major units of the app's currency` });

export const csvBody = Type.Object({
  app_id: Type.Optional(Type.Integer({ description: "Application id; required for costs, rebates and refunds" })),
  csv: Type.String({ description: "The file with its header row" }),
});

export const csvQuery = Type.Object({
  app_id: Type.Optional(
    Type.String({
      pattern: "^\\d{1,10}$",
      description: "Application id, for costs, rebates and refunds sent as `text/csv`",
    }),
  ),
});

export const costPullBody = Type.Object({
  app_id: Type.Integer({ description: "Application id" }),
  ad_platform: Type.Optional(Type.String({ description: "Only accounts at this ad platform" })),
  advertiser_id: Type.Optional(Type.String({ description: "Only this account" })),
  from: Type.Optional(
    Type.String({ description: "First day; when `from` and `to` are absent, all days that are not settled" }),
  ),
  to: Type.Optional(Type.String({ description: "Last day, included" })),
  background: Type.Optional(
    Type.Boolean({ description: "Answer at once; a `GET` of the same path shows the progress" }),
  ),
});

export const pullStopBody = Type.Object({ app_id: Type.Integer({ description: "Application id" }) });

export const costStatusQuery = Type.Object({
  app_id: appIdText,
  from: Type.Optional(day(`First day of \`days\`; at most ${LIMITS.pullDaysShown} days; absent: none`)),
  to: Type.Optional(day("Last day, included")),
});

export const costListQuery = Type.Object({
  app_id: appIdText,
  from: day("First day"),
  to: day("Last day, included"),
  ad_platform: platform,
  advertiser_id: advertiser,
  ...pageFields,
});

const sums = {
  rows: Type.Integer(),
  impressions: Type.Integer(),
  clicks: Type.Integer(),
  cost: money("Cost"),
};

const accountPull = Type.Object({
  ad_platform: Type.String(),
  advertiser_id: Type.String(),
  days: Type.Integer({ description: "Number of days stored" }),
  rows: Type.Integer(),
  cost: money("Cost of these days"),
  error: Type.String({ description: "What went wrong; empty: no error" }),
});

const askedPull = {
  state: Type.Unsafe<"running" | "done" | "stopped" | "failed">({
    type: "string",
    enum: ["running", "done", "stopped", "failed"],
  }),
  started_at: Type.String(),
  ended_at: Type.String({ description: "Empty while it runs" }),
  days_done: Type.Integer({ description: "Finished days of all accounts" }),
  days_total: Type.Integer(),
  error: Type.String({ description: "Why the whole pull failed" }),
  accounts: Type.Array(accountPull, { description: "Filled when the pull has ended" }),
};
const costPull = Type.Object(askedPull);
export type CostPull = Static<typeof costPull>;

const lastPull = Type.Object({ pull: Type.Union([costPull, Type.Null()], { description: "Null: there was none" }) });
export type LastPull = Static<typeof lastPull>;

const pulledDay = Type.Object({
  date: Type.String(),
  pulled_at: Type.String(),
  rows: Type.Integer(),
  cost: money("Cost: the sum of the rows"),
  total: Type.Union([Type.Number(), Type.Null()], {
    description: "The account's own total, which the rows add up to; null: the platform has not told it",
  }),
  not_by_ad: money("The part of the cost that belongs to no ad"),
  settled: Type.Boolean({ description: "The figures are final, and the day is not pulled again" }),
});
export type PulledDay = Static<typeof pulledDay>;

const costAccount = Type.Object({
  ad_platform: Type.String(),
  advertiser_id: Type.String(),
  last_pull: Type.String({ description: "Empty: never" }),
  last_attempt: Type.String(),
  settled_until: Type.String({ description: "The newest day that is not pulled again" }),
  failures: Type.Integer({ description: "Failed attempts in a row" }),
  error: Type.String(),
  reach_days: Type.Union([Type.Integer(), Type.Null()], {
    description: "How many days back the platform's reports reach; null: no limit is known",
  }),
  first_day: Type.String({ description: "The first day that can be pulled; empty: no limit is known" }),
  notes: Type.Array(Type.String(), {
    description: "What else is to be known, in sentences: days that never settle, or that do not add up",
  }),
  days: Type.Array(pulledDay, { description: "Pulled days" }),
});
export type CostAccount = Static<typeof costAccount>;

const costStatus = Type.Object({ accounts: Type.Array(costAccount) });
export type CostStatus = Static<typeof costStatus>;

const costDay = Type.Object({
  date: Type.String(),
  ad_platform: Type.String(),
  advertiser_id: Type.String(),
  advertiser_name: Type.String(),
  ...sums,
  source: Type.Unsafe<"pull" | "file" | "both">({ type: "string", enum: ["pull", "file", "both"] }),
  not_by_ad: money("The part of the cost that belongs to no ad"),
  changed_at: Type.String(),
});
export type CostDay = Static<typeof costDay>;

const costDays = Type.Object({ page_info: pageInfo, days: Type.Array(costDay), total: Type.Object(sums) });
export type CostDays = Static<typeof costDays>;

const costRow = Type.Object({
  date: Type.String(),
  ad_platform: Type.String(),
  advertiser_id: Type.String(),
  gid: Type.String(),
  gid_name: Type.String(),
  aid: Type.String(),
  aid_name: Type.String(),
  creative: Type.String(),
  creative_name: Type.String(),
  csite: Type.String(),
  channel: Type.String(),
  os_platform: Type.String(),
  turbo_promoted_object_id: Type.String(),
  impressions: Type.Integer(),
  clicks: Type.Integer(),
  cost: money("Cost"),
});
export type CostRow = Static<typeof costRow>;

const costRows = Type.Object({ page_info: pageInfo, rows: Type.Array(costRow) });
export type CostRows = Static<typeof costRows>;

const taken = Type.Object({ rows: Type.Integer({ description: "Number of imported rows" }) });
export type TakenFile = Static<typeof taken>;

const values = Type.Unsafe<Readonly<Record<string, string | number>>>({
  type: "object",
  additionalProperties: { type: ["string", "number"] },
});

const previewedRow = Type.Object({
  line: Type.Integer(),
  state: Type.Unsafe<"new" | "replaces" | "same">({ type: "string", enum: ["new", "replaces", "same"] }),
  values,
  before: Type.Union([values, Type.Null()], { description: "The stored row of the same key, or null" }),
});
export type PreviewedRow = Static<typeof previewedRow>;

const preview = {
  columns: Type.Unsafe<readonly string[]>({ type: "array", items: { type: "string" } }),
  rows: Type.Object({ new: Type.Integer(), replaces: Type.Integer(), same: Type.Integer() }),
  first_rows: Type.Array(previewedRow, { description: "The first rows, as they would be stored" }),
  first_replacing: Type.Array(previewedRow, { description: "The first rows that replace a different stored row" }),
  problems: Type.Array(
    Type.Object({ line: Type.Integer({ description: "0: the file as a whole" }), problem: Type.String() }),
  ),
  problem_count: Type.Integer({ description: "Number of all problems, listed or not" }),
};
export const filePreview = Type.Object(preview);
export type FilePreview = Static<typeof filePreview>;

const previewSums = { ...sums, cost_before: money("Stored cost of the same ads, which is replaced") };
const costPreview = Type.Object({
  ...preview,
  sums: Type.Array(Type.Object({ date: Type.String(), ad_platform: Type.String(), ...previewSums })),
  sum_count: Type.Integer({ description: "Number of all sums, listed or not" }),
  total: Type.Object(previewSums),
});
export type CostPreview = Static<typeof costPreview>;

export const costPullAnswer = envelopeSchema(costPull);
export const lastPullAnswer = envelopeSchema(lastPull);
export const costStatusAnswer = envelopeSchema(costStatus);
export const costDaysAnswer = envelopeSchema(costDays);
export const costRowsAnswer = envelopeSchema(costRows);
export const takenFileAnswer = envelopeSchema(taken);
export const filePreviewAnswer = envelopeSchema(filePreview);
export const costPreviewAnswer = envelopeSchema(costPreview);

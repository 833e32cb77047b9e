import { type Static, Type } from "typebox";
import { LIMITS } from "../../limits.ts";
import { envelopeSchema } from "../envelope.ts";
import { pageFields } from "../paging.ts";
import { pageInfo } from "../report/list-record.ts";

const day = (description: string) => Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\d$", description });
const money = (description: string) =>
  Type.Number({ description: `${description}, in major units of the app's currency` });

export const adRevenueQuery = Type.Object({
  app_id: Type.String({ pattern: "^\\d{1,10}$", description: "Application id" }),
  from: day("First day"),
  to: day("Last day, included"),
  ad_unit_id: Type.Optional(Type.String({ description: "Only this ad unit", maxLength: LIMITS.dimensionBytes })),
  ...pageFields,
});

const figures = {
  views: Type.Integer({ description: "Ads of the unit that the app has told" }),
  told_views: Type.Integer({ description: "Ads of the unit that its platform has told" }),
  told: Type.Union([Type.Number(), Type.Null()], {
    description: "What the platform says, in major units of the app's currency; null: it has not said anything",
  }),
  reported: money("What clients reported"),
  pulled: money("What was spread of what the platform says"),
  estimated: money("What is estimated by the eCPM"),
  revenue: money("What the reports count: all three"),
  difference: Type.Union([Type.Number(), Type.Null()], {
    description: "What the reports count less what the platform says; null: it has not said anything",
  }),
};

const unitDay = Type.Object({
  date: Type.String(),
  told_by: Type.Union([Type.Literal("unit"), Type.Literal("player")], {
    description: "player: the ads of which the platform tells revenue by player, of all units",
  }),
  ad_unit_id: Type.String({ description: "Empty by player, and for what a platform says beyond its units" }),
  ...figures,
});
export type UnitDay = Static<typeof unitDay>;

const total = Type.Object(figures, { description: "Of all pages; the difference is of units and days with a figure" });

const adRevenue = Type.Object({ page_info: pageInfo, days: Type.Array(unitDay), total });
export type AdRevenue = Static<typeof adRevenue>;

export const adRevenueAnswer = envelopeSchema(adRevenue);

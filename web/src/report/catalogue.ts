import { useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import type { ConsoleReportBody, ShownCatalogue } from "../../../src/contract/admin/console-report.ts";
import { get } from "../api.ts";
import { useLanguage } from "../texts.ts";

export type Caliber = ConsoleReportBody["statistics_caliber"];
export type CatalogueMetric = ShownCatalogue["metrics"][number];
export type CatalogueDimension = ShownCatalogue["dimensions"][number];
export type MetricUnit = CatalogueMetric["unit"];

/** How a report is read; the formulas of its metrics depend on it. */
export type Reading = { caliber: Caliber; roi: "1" | "2" };

/** Names, definitions and formulas. They change only with a new release. */
export function useCatalogue({ caliber, roi }: Reading) {
  return useQuery({
    queryKey: ["report/catalogue", caliber, roi],
    queryFn: () => get<ShownCatalogue>("report/catalogue", { statistics_caliber: caliber, roi_version: roi }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

type Labelled = { label: string; cname: string };

export function useLabel(): (named: Labelled) => string {
  const language = useLanguage();
  return useCallback(({ label, cname }) => (language === "zh" ? cname : label), [language]);
}

/** The field that names the values of a dimension: accounts, plans, ads and creatives show their name beside their id. */
export const NAME_OF: Readonly<Record<string, string>> = {
  advertiser_id: "advertiser_name",
  gid: "gName",
  aid: "AidName",
  creative: "CidName",
};

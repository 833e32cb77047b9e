import type { SavedView } from "../../../src/contract/admin/report-view.ts";
import { addDays } from "../format.ts";
import { daysBetween } from "./days.ts";

/** The pages that have views. A view names its page; one of the ad report, which came first, names none. */
export type ViewedPage = "report" | "analysis";

/** The part of a page's address that all pages with views have. */
export type ViewedState = { from: string; to: string; view: string };

/** A page with views: the state in its address, and what that is when the address says nothing. */
export type Viewed<State extends ViewedState> = { page: ViewedPage; url: State; defaults: State };

const OF = "of";

export function isOf(page: ViewedPage, { parameters }: Pick<SavedView, "parameters">): boolean {
  return (parameters[OF] ?? "report") === page;
}

/** What a saved view keeps. A range of days that ends today stays relative to today. */
export function viewParameters<State extends ViewedState>(
  { page, url, defaults }: Viewed<State>,
  today: string,
): Record<string, string> {
  const { from, to } = url;
  const days: Record<string, string> = to === today ? { span: String(daysBetween({ from, to }) + 1) } : { from, to };
  const initial: Record<string, string> = defaults;
  const changed = Object.entries(url).filter(([name, value]) => !NOT_KEPT.includes(name) && value !== initial[name]);
  return { ...Object.fromEntries(changed), ...days, ...(page !== "report" && { [OF]: page }) };
}

/** Days are kept in their own way; the page of a list is where somebody was. */
const NOT_KEPT = ["from", "to", "page", "view"];

/** The address of a saved view. Everything that the view does not mention gets its default. */
export function viewState<State extends ViewedState>(
  defaults: State,
  { parameters, view_id }: Pick<SavedView, "parameters" | "view_id">,
  today: string,
): State {
  const span = Math.floor(Number(parameters.span)) || 0;
  const days = span > 0 ? { from: addDays(today, 1 - span), to: today } : {};
  const known = Object.entries(parameters).filter(([name]) => name in defaults);
  return { ...defaults, ...Object.fromEntries(known), ...days, view: String(view_id) };
}

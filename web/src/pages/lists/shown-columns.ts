import type { ListName } from "../../../../src/contract/admin/admin-list.ts";
import { type Stored, stored, useStored } from "../../stored.ts";
import type { ListColumn } from "./list-state.ts";

/** The columns of each list until the user chooses others. */
export const USUAL_COLUMNS: Readonly<Record<ListName, readonly string[]>> = {
  orders: [
    ...["PayEventTime", "ClientID", "Amount", "PayCount", "AdPlatform", "TurboPromotedObjectID", "Channel", "Status"],
    ...["BackAmount", "RefundAmount", "TraceID"],
  ],
  users: [
    ...["CreateTime", "ClientID", "Name", "AdPlatform", "TurboPromotedObjectID", "user$pay_amount_sum"],
    ...["user$pay_count", "user$ad_ltv", "user$ad_count", "LatestLoginDay", "Channel", "Version"],
  ],
};

const isText = (text: string): text is string => text !== "";

const CHOSEN: Readonly<Record<ListName, Stored<string>>> = {
  orders: stored("orders.columns", { isValue: isText, fallback: USUAL_COLUMNS.orders.join() }),
  users: stored("users.columns", { isValue: isText, fallback: USUAL_COLUMNS.users.join() }),
};

/** The chosen columns that the list still has. */
export function useShownColumns(
  list: ListName,
  columns: readonly ListColumn[],
): [readonly ListColumn[], (names: readonly string[]) => void] {
  const names = useStored(CHOSEN[list]).split(",");
  const shown = names.flatMap((name) => columns.find((column) => column.name === name) ?? []);
  return [shown, (chosen) => CHOSEN[list].write(chosen.join())];
}

import type { PlayerRevenue } from "../db/ad-revenue.ts";
import type { AppRules } from "../db/app.ts";
import { convertMicros } from "../domain/money.ts";
import type { PlayerEarning } from "../platform/connector/cost-connector.ts";

export type Players = { kind: "players"; players: PlayerRevenue[] } | { kind: "no_rate"; currency: string };

/** What the ads of a day earned in the app's currency, one row per player. Each sum is converted once. */
export function playersOf(earnings: readonly PlayerEarning[], app: AppRules): Players {
  const players = new Map<string, PlayerRevenue>();
  for (const { openId, views, micros, currency } of earnings) {
    const conversion = convertMicros(micros, currency.toUpperCase(), app);
    if (conversion.kind === "no_rate") return { kind: "no_rate", currency: currency.toUpperCase() };
    const known = players.get(openId) ?? { openId, views: 0, micros: 0 };
    const sum = { openId, views: known.views + views, micros: known.micros + conversion.micros };
    players.set(openId, sum);
  }
  return { kind: "players", players: [...players.values()] };
}

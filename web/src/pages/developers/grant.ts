import type { ShownDeveloper } from "../../../../src/contract/setting/developer.ts";
import { useAppName } from "../../chosen-app.tsx";
import { useFormat } from "../../format.ts";
import { useTexts } from "../../texts.ts";
import { texts } from "./texts.ts";

export const DEVELOPERS_KEY = ["developers"] as const;

type Granted = Pick<ShownDeveloper, "apps" | "rate_calls" | "rate_window_s">;

/** The scope and rate of an application, in words. */
export function useGrant() {
  const text = useTexts(texts);
  const { number } = useFormat();
  const nameOf = useAppName();
  return {
    appsText: ({ apps }: Granted) => (apps === "all" ? text.allApps : apps.map(nameOf).join(", ")),
    rateText: ({ rate_calls, rate_window_s }: Granted) => text.rate(number(rate_calls), number(rate_window_s)),
  };
}

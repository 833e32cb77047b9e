import { useQuery } from "@tanstack/react-query";
import { useSearchParams } from "wouter";
import type { AppsAnswer } from "../../src/contract/setting/app.ts";
import { get } from "./api.ts";
import { stored } from "./stored.ts";

export type ShownApp = AppsAnswer["apps"][number];

export const APPS_KEY = ["apps"] as const;

const lastApp = stored<string>("app", { isValue: (text): text is string => /^\d+$/.test(text), fallback: "" });

export function useApps() {
  return useQuery({ queryKey: APPS_KEY, queryFn: () => get<AppsAnswer>("apps") });
}

/** The app that the pages are about: the one in the address, or the last one chosen, or the first. */
export function useChosenApp(): { app: ShownApp | undefined; choose: (appId: number) => void } {
  const [search, setSearch] = useSearchParams();
  const { data } = useApps();
  const wanted = search.get("app") ?? lastApp.read();
  const app = data?.apps.find(({ app_id }) => String(app_id) === wanted) ?? data?.apps[0];
  const choose = (appId: number) => {
    lastApp.write(String(appId));
    // Filters of one app mean nothing for another.
    setSearch(new URLSearchParams({ app: String(appId) }));
  };
  return { app, choose };
}

/** For pages that are only shown when there is an app. */
export function useApp(): ShownApp {
  const { app } = useChosenApp();
  if (!app) throw new Error("A page that needs an app is shown without one.");
  return app;
}

/** The name of an app, or its id if the app no longer exists. */
export function useAppName(): (appId: number) => string {
  const { data } = useApps();
  return (appId) => data?.apps.find(({ app_id }) => app_id === appId)?.name ?? String(appId);
}

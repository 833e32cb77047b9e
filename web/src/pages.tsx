import { type ComponentType, type LazyExoticComponent, lazy } from "react";
import type { Texts } from "./texts.ts";

export const GROUPS = ["integrate", "results", "promote", "setup", "operate"] as const;
export type Group = (typeof GROUPS)[number];

export type Page = {
  /** Below `/console`, as a pattern of wouter. */
  path: string;
  title: Texts<string>;
  /** Where the navigation shows it; null: it is reached from another page. */
  group: Group | null;
  /** Whether it is about one app: it is not shown before there is one. */
  needsApp: boolean;
  component: LazyExoticComponent<ComponentType>;
};

/** Every page, in the order of the navigation. Each is a chunk of its own, fetched when it is opened. */
export const PAGES: readonly Page[] = [
  {
    path: "/campaigns",
    title: { en: "Campaigns", zh: "推广计划" },
    group: "promote",
    needsApp: true,
    component: lazy(() => import("./pages/campaigns/campaigns.tsx").then((page) => ({ default: page.CampaignsPage }))),
  },
  {
    path: "/password",
    title: { en: "Password", zh: "修改密码" },
    group: null,
    needsApp: false,
    component: lazy(() => import("./pages/password/password.tsx").then((page) => ({ default: page.PasswordPage }))),
  },
];

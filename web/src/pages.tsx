import { type ComponentType, type LazyExoticComponent, lazy } from "react";
import type { Need } from "../../src/contract/setting/session.ts";
import type { Texts } from "./texts.ts";

export const GROUPS = ["integrate", "results", "promote", "setup", "operate"] as const;
export type Group = (typeof GROUPS)[number];

export type Page = {
  /** The path below `/console`, as a wouter pattern. */
  path: string;
  title: Texts<string>;
  /** The group of the navigation that lists the page, or null if it is reached from another page. */
  group: Group | null;
  /** What a page is about. One about an app is hidden until there is one; `some`: no app in particular. */
  about: "app" | "some" | "all";
  /** What the person's role must allow. */
  needs: Need;
  component: LazyExoticComponent<ComponentType>;
};

/** Every page, in the order of the navigation. Each is its own chunk, fetched when the page is opened. */
export const PAGES: readonly Page[] = [
  {
    path: "/start",
    title: { en: "Start here", zh: "快速接入" },
    group: "integrate",
    about: "app",
    needs: "detail",
    component: lazy(() => import("./pages/start/start.tsx").then((page) => ({ default: page.StartPage }))),
  },
  {
    path: "/live",
    title: { en: "Live", zh: "实时数据" },
    group: "integrate",
    about: "app",
    needs: "detail",
    component: lazy(() => import("./pages/live/live.tsx").then((page) => ({ default: page.LivePage }))),
  },
  {
    path: "/overview",
    title: { en: "Overview", zh: "概览" },
    group: "results",
    about: "app",
    needs: "report",
    component: lazy(() => import("./pages/overview/overview.tsx").then((page) => ({ default: page.OverviewPage }))),
  },
  {
    path: "/report",
    title: { en: "Ad report", zh: "广告报表" },
    group: "results",
    about: "app",
    needs: "report",
    component: lazy(() => import("./pages/ad-report/ad-report.tsx").then((page) => ({ default: page.AdReportPage }))),
  },
  {
    path: "/analysis",
    title: { en: "Analysis", zh: "分析" },
    group: "results",
    about: "app",
    needs: "detail",
    component: lazy(() => import("./pages/analysis/analysis.tsx").then((page) => ({ default: page.AnalysisPage }))),
  },
  {
    path: "/segments",
    title: { en: "Segments", zh: "用户分群" },
    group: "results",
    about: "app",
    needs: "detail",
    component: lazy(() => import("./pages/segments/segments.tsx").then((page) => ({ default: page.SegmentsPage }))),
  },
  {
    path: "/sql",
    title: { en: "SQL", zh: "SQL" },
    group: "results",
    about: "app",
    needs: "detail",
    component: lazy(() => import("./pages/sql/sql.tsx").then((page) => ({ default: page.SqlPage }))),
  },
  {
    path: "/ad-revenue",
    title: { en: "Ad revenue", zh: "广告变现" },
    group: "results",
    about: "app",
    needs: "detail",
    component: lazy(() =>
      import("./pages/ad-revenue/ad-revenue.tsx").then((page) => ({ default: page.AdRevenuePage })),
    ),
  },
  {
    path: "/orders",
    title: { en: "Orders", zh: "订单" },
    group: "results",
    about: "app",
    needs: "detail",
    component: lazy(() => import("./pages/orders/orders.tsx").then((page) => ({ default: page.OrdersPage }))),
  },
  {
    path: "/users",
    title: { en: "Users", zh: "用户" },
    group: "results",
    about: "app",
    needs: "detail",
    component: lazy(() => import("./pages/users/users.tsx").then((page) => ({ default: page.UsersPage }))),
  },
  {
    path: "/users/user",
    title: { en: "User", zh: "用户" },
    group: null,
    about: "app",
    needs: "detail",
    component: lazy(() => import("./pages/user/user.tsx").then((page) => ({ default: page.UserPage }))),
  },
  {
    path: "/campaigns",
    title: { en: "Campaigns", zh: "推广计划" },
    group: "promote",
    about: "app",
    needs: "report",
    component: lazy(() => import("./pages/campaigns/campaigns.tsx").then((page) => ({ default: page.CampaignsPage }))),
  },
  {
    path: "/postbacks",
    title: { en: "Postbacks", zh: "回传" },
    group: "promote",
    about: "app",
    needs: "detail",
    component: lazy(() => import("./pages/postbacks/postbacks.tsx").then((page) => ({ default: page.PostbacksPage }))),
  },
  {
    path: "/cost",
    title: { en: "Cost", zh: "消耗" },
    group: "promote",
    about: "app",
    needs: "detail",
    component: lazy(() => import("./pages/cost/cost.tsx").then((page) => ({ default: page.CostPage }))),
  },
  {
    path: "/authorised",
    title: { en: "Choose accounts", zh: "选择账户" },
    group: null,
    about: "some",
    needs: "setting",
    component: lazy(() =>
      import("./pages/authorise/authorised.tsx").then((page) => ({ default: page.AuthorisedPage })),
    ),
  },
  {
    path: "/apps",
    title: { en: "Apps and tokens", zh: "应用与密钥" },
    group: "setup",
    about: "some",
    needs: "report",
    component: lazy(() => import("./pages/apps/apps.tsx").then((page) => ({ default: page.AppsPage }))),
  },
  {
    path: "/metadata",
    title: { en: "Metadata", zh: "元数据" },
    group: "setup",
    about: "app",
    needs: "detail",
    component: lazy(() => import("./pages/metadata/metadata.tsx").then((page) => ({ default: page.MetadataPage }))),
  },
  {
    path: "/rules",
    title: { en: "Attribution rules", zh: "归因规则" },
    group: "setup",
    about: "app",
    needs: "detail",
    component: lazy(() =>
      import("./pages/attribution-rules/attribution-rules.tsx").then((page) => ({
        default: page.AttributionRulesPage,
      })),
    ),
  },
  {
    path: "/developers",
    title: { en: "Developer applications", zh: "开发者应用" },
    group: "setup",
    about: "all",
    needs: "detail",
    component: lazy(() =>
      import("./pages/developers/developers.tsx").then((page) => ({ default: page.DevelopersPage })),
    ),
  },
  {
    path: "/people",
    title: { en: "People", zh: "成员" },
    group: "setup",
    about: "all",
    needs: "detail",
    component: lazy(() => import("./pages/people/people.tsx").then((page) => ({ default: page.PeoplePage }))),
  },
  {
    path: "/audit",
    title: { en: "Audit log", zh: "审计日志" },
    group: "setup",
    about: "some",
    needs: "detail",
    component: lazy(() => import("./pages/audit/audit.tsx").then((page) => ({ default: page.AuditPage }))),
  },
  {
    path: "/health",
    title: { en: "Health", zh: "运行状态" },
    group: "operate",
    about: "some",
    needs: "report",
    component: lazy(() => import("./pages/health/health.tsx").then((page) => ({ default: page.HealthPage }))),
  },
  {
    path: "/account",
    title: { en: "Your account", zh: "我的账户" },
    group: null,
    about: "some",
    needs: "report",
    component: lazy(() => import("./pages/account/account.tsx").then((page) => ({ default: page.AccountPage }))),
  },
];

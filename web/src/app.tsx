/**
 * The console: the sign-in page, or, once signed in, a side bar and one of the pages in pages.tsx. A page has a folder in
 * pages/ with its own texts.ts (both languages) and style sheet. It asks the server with react-query through api.ts, keeps
 * its state in the address through url-state.ts, and is built from the pieces in ui/.
 */
import { QueryClientProvider } from "@tanstack/react-query";
import { Suspense } from "react";
import { Redirect, Route, Router, Switch } from "wouter";
import { queries } from "./api.ts";
import { useApps, useChosenApp } from "./chosen-app.tsx";
import { FactorGate } from "./pages/sign-in/factor-gate.tsx";
import { SignedInElsewhere } from "./pages/sign-in/provider.tsx";
import { Setup } from "./pages/sign-in/setup.tsx";
import { SignIn } from "./pages/sign-in/sign-in.tsx";
import { PAGES, type Page } from "./pages.tsx";
import { usePages } from "./seen-pages.ts";
import { useSessionQuery } from "./session.tsx";
import { Shell } from "./shell.tsx";
import { useTexts } from "./texts.ts";
import { Empty } from "./ui/empty.tsx";
import { Failure } from "./ui/failure.tsx";
import { Progress } from "./ui/progress.tsx";
import { Toasts } from "./ui/toast.tsx";

export function App() {
  return (
    <QueryClientProvider client={queries}>
      <Router base="/console">
        <Switch>
          <Route path="/setup">
            <Setup />
          </Route>
          <Route path="/signed-in">
            <SignedInElsewhere />
          </Route>
          <Route>
            <SignedIn />
          </Route>
        </Switch>
      </Router>
      <Toasts />
    </QueryClientProvider>
  );
}

function SignedIn() {
  const session = useSessionQuery();
  if (session.isError) return <Failure error={session.error} onRetry={() => session.refetch()} />;
  if (session.data === undefined) return <Progress />;
  if (session.data === null) return <SignIn />;
  if (session.data.needs_second_factor) return <FactorGate />;
  return (
    <Shell>
      <Suspense fallback={<Progress />}>
        <Switch>
          {PAGES.map((page) => (
            <Route key={page.path} path={page.path}>
              <PageOf page={page} />
            </Route>
          ))}
          <Route path="/">
            <Home />
          </Route>
          <Route>
            <Lost />
          </Route>
        </Switch>
      </Suspense>
    </Shell>
  );
}

/** Redirects to the first page of the navigation, where a new app has its checklist. */
function Home() {
  const isSeen = usePages();
  const first = PAGES.find((page) => page.group !== null && isSeen(page));
  return first ? <Redirect to={first.path} replace /> : null;
}

const texts = {
  en: {
    noApp: "No apps yet",
    noAppHelp: "An app is a game or program whose events are collected. Create one under “Apps and tokens”.",
    notGranted: "Not for your role",
    notGrantedHelp: "Your role for this app does not include this page. Ask an admin.",
    lost: "Page not found",
    lostHelp: "The address may be mistyped. Choose a page from the navigation.",
  },
  zh: {
    noApp: "还没有应用",
    noAppHelp: "应用是需要采集事件的游戏或小程序。请在“应用与密钥”中创建。",
    notGranted: "您的角色无权查看",
    notGrantedHelp: "您在该应用中的角色不包含此页面，请联系管理员。",
    lost: "页面不存在",
    lostHelp: "地址可能有误，请从导航中选择页面。",
  },
};

function PageOf({ page }: { page: Page }) {
  const { about, component: Content } = page;
  const text = useTexts(texts);
  const apps = useApps();
  const { app } = useChosenApp();
  const isSeen = usePages();
  if (!isSeen(page) && (about !== "app" || app)) return <NotGranted />;
  // Such a page is shown while the database is away, too.
  if (about !== "app") return <Content />;
  if (apps.isError) return <Failure error={apps.error} onRetry={() => apps.refetch()} />;
  if (apps.isPending) return <Progress />;
  if (!app) {
    return (
      <Empty title={text.noApp}>
        <p>{text.noAppHelp}</p>
      </Empty>
    );
  }
  // The key resets the page, so that no state of one app is left on the page of another.
  return <Content key={app.app_id} />;
}

function NotGranted() {
  const text = useTexts(texts);
  return (
    <Empty title={text.notGranted}>
      <p>{text.notGrantedHelp}</p>
    </Empty>
  );
}

function Lost() {
  const text = useTexts(texts);
  return (
    <Empty title={text.lost}>
      <p>{text.lostHelp}</p>
    </Empty>
  );
}

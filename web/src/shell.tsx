import { type ReactNode, useEffect, useState } from "react";
import { Link, useLocation } from "wouter";
import { useApps, useChosenApp } from "./chosen-app.tsx";
import { GROUPS, PAGES } from "./pages.tsx";
import { RoleName } from "./role-name.tsx";
import { usePages } from "./seen-pages.ts";
import { useSession, useSignOut } from "./session.tsx";
import { LANGUAGES, language, useLanguage, useTexts } from "./texts.ts";
import { THEMES, theme, useTheme } from "./theme.ts";
import { Brand } from "./ui/brand.tsx";
import { Button } from "./ui/button.tsx";
import { Failure } from "./ui/failure.tsx";
import { SelectField } from "./ui/field.tsx";
import "./shell.css";

const texts = {
  en: {
    groups: { integrate: "Integrate", results: "Results", promote: "Promote", setup: "Setup", operate: "Operate" },
    pages: "Pages",
    menu: "Menu",
    skip: "Skip to the content",
    app: "App",
    language: "Language",
    theme: "Theme",
    themes: { system: "System", light: "Light", dark: "Dark" },
    account: "Account",
    signOut: "Sign out",
  },
  zh: {
    groups: { integrate: "接入", results: "数据", promote: "投放", setup: "设置", operate: "运维" },
    pages: "页面",
    menu: "菜单",
    skip: "跳到内容",
    app: "应用",
    language: "语言",
    theme: "主题",
    themes: { system: "系统", light: "浅色", dark: "深色" },
    account: "账户",
    signOut: "退出登录",
  },
};

const LANGUAGE_NAMES = { en: "English", zh: "简体中文" };

export function Shell({ children }: { children: ReactNode }) {
  const text = useTexts(texts);
  const [location] = useLocation();
  const [isOpen, setOpen] = useState(false);
  useTitle(location);
  // Going to another page closes the menu.
  useEffect(() => setOpen(false), [location]);
  return (
    <div className="shell">
      <a className="skip" href="#content">
        {text.skip}
      </a>
      <div className="top-bar">
        <Brand />
        <Button look="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {text.menu}
        </Button>
      </div>
      <aside className={`sidebar ${isOpen ? "open" : ""}`}>
        <Brand />
        <AppPicker />
        <Navigation location={location} />
        <Person />
      </aside>
      <main id="content" className="content">
        {children}
      </main>
    </div>
  );
}

function useTitle(location: string): void {
  const shownLanguage = useLanguage();
  useEffect(() => {
    const page = PAGES.find(({ path }) => path === location);
    document.title = page ? `${page.title[shownLanguage]} · Touchpoint` : "Touchpoint";
  }, [location, shownLanguage]);
}

function AppPicker() {
  const text = useTexts(texts);
  const { data } = useApps();
  const { app, choose } = useChosenApp();
  if (!data || !app) return null;
  const choices = data.apps.map(({ app_id, name }) => ({ value: String(app_id), label: `${name} · ${app_id}` }));
  return (
    <SelectField
      label={text.app}
      value={String(app.app_id)}
      choices={choices}
      onChange={(value) => choose(Number(value))}
    />
  );
}

function Navigation({ location }: { location: string }) {
  const text = useTexts(texts);
  const shownLanguage = useLanguage();
  const { app } = useChosenApp();
  const suffix = app ? `?app=${app.app_id}` : "";
  const isSeen = usePages();
  return (
    <nav aria-label={text.pages}>
      {GROUPS.map((group) => {
        const pages = PAGES.filter((page) => page.group === group && isSeen(page));
        if (pages.length === 0) return null;
        return (
          <div key={group}>
            <div className="group-title">{text.groups[group]}</div>
            <ul className="group">
              {pages.map(({ path, title }) => (
                <li key={path}>
                  <Link href={`${path}${suffix}`} aria-current={isWithin(location, path) ? "page" : undefined}>
                    {title[shownLanguage]}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        );
      })}
    </nav>
  );
}

/** A subpage such as `/users/…` belongs to its parent page. */
function isWithin(location: string, path: string): boolean {
  return location === path || location.startsWith(`${path}/`);
}

function Person() {
  const text = useTexts(texts);
  const session = useSession();
  const leaving = useSignOut();
  return (
    <div className="person">
      <div className="choices">
        <SelectField
          label={text.language}
          value={useLanguage()}
          choices={LANGUAGES.map((name) => ({ value: name, label: LANGUAGE_NAMES[name] }))}
          onChange={(value) => language.write(value as (typeof LANGUAGES)[number])}
        />
        <SelectField
          label={text.theme}
          value={useTheme()}
          choices={THEMES.map((name) => ({ value: name, label: text.themes[name] }))}
          onChange={(value) => theme.write(value as (typeof THEMES)[number])}
        />
      </div>
      <span>
        {session.name} <RoleName />
      </span>
      <span className="row apart">
        <Link href="/account" className="small">
          {text.account}
        </Link>
        <Button size="small" disabled={leaving.isPending} onClick={() => leaving.mutate()}>
          {text.signOut}
        </Button>
      </span>
      {leaving.error && <Failure error={leaving.error} />}
    </div>
  );
}

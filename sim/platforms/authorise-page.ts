import { type Clock, systemClock } from "../../src/clock.ts";
import { type Answer, type Call, parameter, Refusal } from "./call.ts";
import type { Route } from "./stand-in.ts";
import { randomText } from "./tokens.ts";

export type AuthoriseOptions = {
  clock?: Clock | undefined;
  /** The redirect addresses that the developer application has registered. By default every one is accepted. */
  redirects?: readonly string[];
};

/** The codes that an authorise page hands out. Each is good for one exchange, within some minutes. */
export class Codes {
  readonly #clock: Clock;
  readonly #lifeSeconds: number;
  readonly #issued = new Map<string, { redirect: string; expiresAtMs: number }>();

  constructor({ clock, lifeSeconds }: { clock?: Clock | undefined; lifeSeconds: number }) {
    this.#clock = clock ?? systemClock;
    this.#lifeSeconds = lifeSeconds;
  }

  issue(redirect: string): string {
    const code = randomText();
    this.#issued.set(code, { redirect, expiresAtMs: this.#clock() + this.#lifeSeconds * 1000 });
    return code;
  }

  /** Uses a code up. Returns the redirect address that it was sent to. */
  take(code: string, refusalCode?: number): string {
    const issued = this.#issued.get(code);
    this.#issued.delete(code);
    if (issued === undefined) throw new Refusal("the code is unknown or was used before", refusalCode);
    if (issued.expiresAtMs <= this.#clock()) throw new Refusal("the code has expired", refusalCode);
    return issued.redirect;
  }
}

type PageNames = {
  path: string;
  /** The names of the application's id and of the redirect address in the query. */
  client: string;
  redirect: string;
};

/**
 * The page on which a person authorises an application: two links, one of which goes back with a code and one without.
 * `back` adds what the platform sends with the code.
 */
export function authorisePage(
  { path, client, redirect }: PageNames,
  options: AuthoriseOptions & { clientId: string; back: (redirect: string) => Record<string, string> },
): Route {
  const refused = ({ message }: Refusal): Answer => html(400, `<p>${message}</p>`);
  return {
    methods: ["GET"],
    path,
    dialect: { refusal: refused, busy: html(503, "<p>busy</p>"), badToken: html(400, "<p>bad</p>") },
    take({ query }: Call) {
      if (parameter(query, client) !== options.clientId) throw new Refusal(`${client} is unknown`);
      const to = parameter(query, redirect);
      if (!URL.canParse(to)) throw new Refusal(`${redirect} is not a URL`);
      if (options.redirects !== undefined && !options.redirects.includes(to))
        throw new Refusal(`${redirect} is not registered`);
      const state = query.get("state") ?? "";
      const link = (id: string, more: Record<string, string>) =>
        `<a id="${id}" href="${escaped(`${to}?${new URLSearchParams({ state, ...more })}`)}">${id}</a>`;
      return html(200, `${link("authorise", options.back(to))} ${link("deny", { error: "access_denied" })}`);
    },
  };
}

function html(status: number, body: string): Answer {
  const headers = { "content-type": "text/html; charset=utf-8" };
  // An icon in the page: a browser with a window would ask for one, and complain of its absence.
  const head = '<!doctype html><title>Authorise</title><link rel="icon" href="data:,">';
  return { status, body: head + body, headers };
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}

/** The links of an authorise page, as a browser reads them. */
export function linksOf(page: string): { authorise: URL; deny: URL } {
  const link = (id: string) => {
    const href = new RegExp(`id="${id}" href="([^"]*)"`).exec(page)?.[1];
    if (href === undefined) throw new Error(`The page has no link ${id}: ${page}`);
    return new URL(href.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&amp;", "&"));
  };
  return { authorise: link("authorise"), deny: link("deny") };
}

import type { Attack } from "../../attack.ts";

const EVIL = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };

/** Requests that a page of another site can make a browser send, with the cookies of its user. */
export const crossSite: Attack = {
  name: "cross_site",
  point: "9",
  by: "an outsider",
  what: "a page elsewhere makes the admin's browser sign in, sign out and change things",
  holds: "refused, whatever cookies come along; the cookie cannot be read by a page or sent from elsewhere",
  async strike({ target, caller, repeat, hold }) {
    const { adminName: name, adminPassword: password } = target.inside;
    const from = "192.0.2.81";
    const signIn = (headers: object) =>
      caller.send({ path: "/admin/api/v1/session/sign-in", from, body: { name, password }, headers: { ...headers } });
    const own = await signIn({});
    if (own.code !== 0) return hold(false, `the admin was refused: ${own.msg}`);
    const setCookie = String(own.headers["set-cookie"] ?? "");
    const cookie = setCookie.split(";")[0]!;
    hold(
      /httponly/i.test(setCookie) && /samesite=(strict|lax)/i.test(setCookie),
      `the cookie is ${setCookie.split(";").slice(1)}`,
    );
    const post = (path: string, body: object, headers: object) =>
      caller.send({ path: `/admin/api/v1/${path}`, from, body, headers: { ...headers } });
    const who = () => caller.send({ method: "GET", path: "/admin/api/v1/session", from, headers: { cookie } });
    await repeat(2, async () => {
      hold((await signIn(EVIL)).code !== 0, "a page elsewhere can sign a browser in");
      hold(
        (await post("apps/create", { name: "x" }, { ...EVIL, cookie })).code !== 0,
        "a page elsewhere can make an app",
      );
      hold(
        (await post("apps/create", { name: "x" }, { cookie })).code !== 0,
        "a cookie alone is enough to make an app",
      );
      await post("session/sign-out", {}, { ...EVIL, cookie });
      hold((await who()).code === 0, "a page elsewhere can sign a browser out");
    });
    const answer = await caller.send({ method: "GET", path: "/admin/api/v1/apps", from, headers: { cookie } });
    hold(
      answer.headers["access-control-allow-origin"] === undefined,
      "pages elsewhere may read what the admin interface answers",
    );
    hold(
      /no-store/.test(String(answer.headers["cache-control"])),
      "answers of the admin interface may be kept by caches",
    );
  },
};

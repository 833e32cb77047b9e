import { expect, test } from "vitest";
import { sharedServer } from "../../support/shared-server.ts";
import { ENDPOINTS } from "../endpoints.ts";
import { BASE, track } from "../fixture.ts";

const server = sharedServer();
const ORIGIN = { origin: "https://game.example" };
const SDK_HEADERS = [
  ...["content-type", "turbo-debug-mode", "gravity-content-compress"],
  ...["ge-integration-type", "ge-integration-version", "ge-integration-count", "ge-integration-extra"],
  ...["ta-integration-type", "ta-integration-version", "ta-integration-count", "ta-integration-extra"],
];
const elsewhere = ["/healthz", "/readyz", "/metrics", "/progress", "/openapi.json", "/docs", "/nowhere"];
const reports = ["combo_sql", "order/list", "user/list"].map((name) => `/openapi/api/v1/report/${name}/`);

test.each(ENDPOINTS.map(({ method, path }) => [method, path]))(
  "the preflight for %s %s allows any origin and the headers of the SDKs",
  async (method, path) => {
    const answer = await fetch(`${server.url}${BASE}/${path}/?access_token=x`, {
      method: "OPTIONS",
      headers: {
        ...ORIGIN,
        "access-control-request-method": method!,
        "access-control-request-headers": SDK_HEADERS.join(","),
      },
    });
    const list = (name: string) => (answer.headers.get(name) ?? "").toLowerCase().split(/\s*,\s*/);
    expect(answer.ok).toBe(true);
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    expect(list("access-control-allow-methods")).toContain(method!.toLowerCase());
    expect(list("access-control-allow-headers")).toEqual(expect.arrayContaining(SDK_HEADERS));
    expect(await answer.text()).toBe("");
  },
);

test("a page of any origin may read the answer of a collection endpoint, whatever the answer is", async () => {
  const app = await server.createApp();
  await server.register(app, "a");
  const ok = await server.post("event/collect/", app, body("a"), { headers: ORIGIN });
  const unregistered = await server.post("event/collect/", app, body("x"), { headers: ORIGIN });
  const badToken = await server.post("event/collect/", { accessToken: "x" }, body("a"), { headers: ORIGIN });
  const badJson = await server.post("event/collect/", app, "{", { headers: ORIGIN });
  const tooLarge = await server.post("event/collect/", app, " ".repeat(3 * 1024 * 1024), { headers: ORIGIN });
  expect([ok, unregistered, badToken, badJson, tooLarge].map(({ code }) => code)).toEqual([0, 2000, 2001, 1001, 1413]);
  for (const answer of [ok, unregistered, badToken, badJson, tooLarge])
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
});

test.each([...elsewhere, ...reports])("%s is closed to pages of other origins", async (path) => {
  for (const method of ["GET", "POST", "OPTIONS"]) {
    const answer = await fetch(`${server.url}${path}`, { method, headers: ORIGIN, redirect: "manual" });
    const open = [...answer.headers.keys()].filter((name) => name.startsWith("access-control-"));
    expect({ method, open }).toEqual({ method, open: [] });
    await answer.arrayBuffer();
  }
});

function body(clientId: string): object {
  return { client_id: clientId, event_list: [track("e")] };
}

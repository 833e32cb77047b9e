import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import type { DeveloperApp } from "../../src/db/developer-app.ts";
import { LIMITS } from "../../src/limits.ts";
import { ADMIN, AdminCaller } from "../support/admin-caller.ts";
import { sharedServer } from "../support/shared-server.ts";
import { type Answer, answerOf } from "../support/touchpoint.ts";
import { BASE } from "./fixture.ts";
import { REPORT_BASE, Reports } from "./report/reports.ts";

const server = sharedServer();
const reports = new Reports(server);
const admin = new AdminCaller(server);

let app: App;
let developer: DeveloperApp;
beforeAll(async () => {
  app = await server.appWith(["a"]);
  developer = await reports.developer();
});

type Headers = Record<string, string>;
const collection = (path: string) => `${BASE}/${path}/?access_token=${app.accessToken}`;

/** A token that names the developer and nothing else. */
const named = (): Headers => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return { authorization: `${part({ alg: "HS256" })}.${part({ app_key: developer.appKey })}.x` };
};

async function post(
  path: string,
  body: string | Uint8Array<ArrayBuffer> | FormData,
  headers: Headers = {},
): Promise<Answer> {
  return answerOf(await fetch(`${server.url}${path}`, { method: "POST", body, headers }));
}

/** Endpoints by the largest body that they accept, and how to call them. */
const ROUTES: readonly [path: string, bytesMax: number, address: () => string, headers: () => Headers][] = [
  ["session/sign-in", LIMITS.signInBodyBytes, () => `${ADMIN}/session/sign-in`, () => ({})],
  ["session/setup", LIMITS.signInBodyBytes, () => `${ADMIN}/session/setup`, () => ({})],
  ["session/password", LIMITS.signInBodyBytes, () => `${ADMIN}/session/password`, () => admin.headers],
  ["apps/edit", LIMITS.settingsBodyBytes, () => `${ADMIN}/apps/edit`, () => admin.headers],
  ["users/erase", LIMITS.settingsBodyBytes, () => `${ADMIN}/users/erase`, () => admin.headers],
  ["report/ad", LIMITS.reportBodyBytes, () => `${ADMIN}/report/ad`, () => admin.headers],
  ["cost/import", LIMITS.fileBodyBytes, () => `${ADMIN}/cost/import`, () => admin.headers],
  ["the public ad report", LIMITS.reportBodyBytes, () => `${REPORT_BASE}/combo_sql/`, named],
  ["user/register", LIMITS.userBodyBytes, () => collection("user/register"), () => ({})],
  ["user/initialize", LIMITS.userBodyBytes, () => collection("user/initialize"), () => ({})],
  ["user/get", LIMITS.userBodyBytes, () => collection("user/get"), () => ({})],
  ["event/handle_event", LIMITS.userBodyBytes, () => collection("event/handle_event"), () => ({})],
  ["the token refresh", LIMITS.userBodyBytes, () => collection("base/wx/access_token/refresh"), () => ({})],
];

test.each(ROUTES)("%s accepts a body of %i bytes and none that is longer", async (_, bytesMax, address, headers) => {
  const fits = await post(address(), "{}".padEnd(bytesMax), headers());
  expect(fits.status).toBe(200);
  expect(fits.code).not.toBe(1413);
  const answer = await post(address(), "{}".padEnd(bytesMax + 1), headers());
  const sentence = `The body is larger than ${bytesMax} bytes.`;
  expect(answer).toMatchObject({ status: 413, code: 1413, data: {}, msg: sentence });
});

describe("outside collection a body must be plain JSON", () => {
  const outside = ROUTES.filter(([, , address]) => !address.toString().includes("collection"));
  test.each(outside)("%s does not decode gzip or forms", async (_, _bytesMax, address, headers) => {
    const form = new FormData();
    form.append("data", Buffer.from("{}").toString("base64"));
    const answers = [
      await post(address(), gzipSync("{}"), { ...headers(), "content-encoding": "gzip" }),
      await post(address(), gzipSync("{}"), { ...headers(), "gravity-content-compress": "gzip" }),
      await post(address(), form, headers()),
    ];
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 200, code: 1001, msg: expect.stringMatching(/plain JSON/), data: {} });
    }
  });
});

test("a compressed registration is measured by its unpacked size", async () => {
  const headers = { "gravity-content-compress": "gzip" };
  const body = { client_id: "packed", name: "n", channel: "c", version: 1, noise: "x".repeat(LIMITS.userBodyBytes) };
  expect(await post(collection("user/register"), gzipSync(JSON.stringify(body)), headers)).toMatchObject({
    status: 413,
    code: 1413,
    msg: `The unpacked body is larger than ${LIMITS.userBodyBytes} bytes.`,
  });
  const small = JSON.stringify({ ...body, noise: "" });
  expect(await post(collection("user/register"), gzipSync(small), headers)).toMatchObject({ code: 0 });
});

test.each<[string, string, number, RegExp]>([
  ["values", `[${"{},".repeat(LIMITS.bodyValuesAtOnce)}1]`, 1413, /more than \d+ values/],
  ["levels", "[".repeat(LIMITS.bodyDepthAtOnce + 1), 1004, /nested deeper than \d+ levels/],
])("a large report body of too many %s is refused before it is parsed", async (_, text, code, msg) => {
  const body = text.padEnd(LIMITS.bodyBytesAtOnce + 1);
  const answer = await post(`${REPORT_BASE}/combo_sql/`, body, named());
  expect(answer).toMatchObject({ code, msg: expect.stringMatching(msg), data: {} });
});

test("a report call by a stranger is refused before its body is read", async () => {
  const answer = await post(`${REPORT_BASE}/combo_sql/`, "x".repeat(LIMITS.reportBodyBytes + 1));
  expect(answer).toMatchObject({ status: 200, code: 2002 });
});

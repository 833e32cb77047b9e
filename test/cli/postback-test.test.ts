import { afterAll, beforeAll, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { bring, type KuaishouStandIn, startKuaishou, urlOf } from "../support/players.ts";
import { sharedServer } from "../support/shared-server.ts";
import { cli, cliJson, expectFailure, expectWrongArguments } from "./run.ts";

const server = sharedServer();
let app: App;
let kuaishou: KuaishouStandIn;

beforeAll(async () => {
  kuaishou = await startKuaishou();
  app = await server.createApp();
  await bring(server, app, "u");
  await server.settle();
  await cliJson(server.dataDir, [...of("account", "set"), "--set", `url=${urlOf(kuaishou)}`]);
});

afterAll(() => kuaishou.close());

const of = (...args: string[]) => [...args, "--app", String(app.appId), "--platform", "kuaishou"];
const run = (...args: string[]) => cli(server.dataDir, [...of("postback", "test", "--event-type", "pay"), ...args]);

test("a test of a user prints the call as it was sent, and the answer", async () => {
  const { code, stdout } = await run("--client", "u", "--cents", "648");
  expect(code).toBe(0);
  const [verdict, mark, id, , request] = stdout.split("\n");
  expect(verdict).toBe("The platform accepted it.");
  expect(mark).toMatch(/^Sent without a mark/);
  expect(id).toMatch(/^Test test_[0-9a-f]{27}, \d{4}-/);
  expect(request).toMatch(/^GET http:.*callback=token-u&event_type=3&event_time=\d{13}&purchase_amount=6\.48$/);
  expect(stdout).toMatch(/\nHTTP 200\ncontent-type: .*\n\n\{"result":1/s);
});

test("a test of a click takes its keys and the device as pairs, and fails with the platform's verdict", async () => {
  const args = ["--click", "callback=ks-9", "--device", "os=ios", "--device", "ip=203.0.113.9", "--cents", "1"];
  expect(await cliJson(server.dataDir, [...of("postback", "test", "--event-type", "pay"), ...args])).toMatchObject({
    verdict: "accepted",
    mark: "",
  });
  kuaishou.fail = () => "server_error";
  const refused = await run(...args);
  kuaishou.fail = () => undefined;
  expect(refused).toMatchObject({ code: 1, stdout: expect.stringMatching(/^It was not accepted; .* HTTP 5\d\d\.\n/) });
});

test("wrong wishes are one sentence", async () => {
  expectFailure(await run("--client", "nobody"), /^There is no user with this client_id/);
  expectFailure(await run(), /^Name a user by client_id, or a click/);
  expectFailure(await run("--click", "x=1"), /no field "x"/);
  expectWrongArguments(await run("--click", "callback"), /name=value/);
  expectWrongArguments(await run("--client", "u", "--mark", "maybe"), /on, off/);
});

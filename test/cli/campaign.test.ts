import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { sharedServer } from "../support/shared-server.ts";
import { cli, cliJson, expectFailure, expectWrongArguments } from "./run.ts";

const server = sharedServer();
const { dataDir } = server;

const of = (app: App, ...args: string[]) => [...args, "--app", String(app.appId)];
const run = (app: App, ...args: string[]) => cli(dataDir, of(app, ...args));
const runJson = (app: App, ...args: string[]) => cliJson(dataDir, of(app, ...args));

describe("campaign", () => {
  const FIELDS = { name: "夏 1", ad_platform: "tencent", channel: "c 1", os_platform: "ios", operator: "o", dept: "d" };
  const OPTIONS = ["--name", "夏 1", "--platform", "gdt", "--channel", "c 1", "--os", "ios", "--operator", "o"];
  let app: App;
  beforeAll(async () => {
    app = await server.createApp();
  });

  test("create makes an id of 16 characters, or takes a given one, and prints the campaign", async () => {
    const own = await server.createApp();
    expect(await runJson(own, "campaign", "list")).toEqual([]);
    const made = await runJson(own, "campaign", "create", ...OPTIONS, "--dept", "d");
    expect(made).toEqual({ turbo_promoted_object_id: expect.stringMatching(/^[a-z0-9]{16}$/), ...FIELDS });
    const taken = await runJson(own, "campaign", "create", "--id", "Summer_2026-0001");
    const empty = { name: "", ad_platform: "", channel: "", os_platform: "", operator: "", dept: "" };
    expect(taken).toEqual({ turbo_promoted_object_id: "Summer_2026-0001", ...empty });
    expect(await runJson(own, "campaign", "list")).toEqual([made, taken]);
    expect((await run(own, "campaign", "list")).stdout).toMatch(
      /^turbo_promoted_object_id +name +ad_platform .*\n.*夏 1/,
    );
  });

  test("create without --json prints one field per line", async () => {
    const result = await run(app, "campaign", "create", "--name", "Plain", "--platform", "my_network");
    expect(result).toMatchObject({ code: 0, stderr: "" });
    expect(result.stdout).toMatch(/^turbo_promoted_object_id +\S{16}\nname +Plain\nad_platform +my_network\n/);
  });

  test("set changes only what is named", async () => {
    const { turbo_promoted_object_id: id } = await runJson(app, "campaign", "create", ...OPTIONS, "--dept", "d");
    expect(await runJson(app, "campaign", "set", id, "--channel", "c 2")).toMatchObject({ ...FIELDS, channel: "c 2" });
    const all = ["--name", "n", "--platform", "vivo", "--channel", "", "--os", "", "--operator", "p", "--dept", "e"];
    expect(await runJson(app, "campaign", "set", id, ...all)).toEqual({
      turbo_promoted_object_id: id,
      name: "n",
      ad_platform: "vivo",
      channel: "",
      os_platform: "",
      operator: "p",
      dept: "e",
    });
    expect((await run(app, "campaign", "set", id)).stdout).toMatch(/ad_platform +vivo/);
  });

  test("failures are one sentence and exit code 1", async () => {
    await runJson(app, "campaign", "create", "--id", "0123456789abcdef");
    expectFailure(await run(app, "campaign", "create", "--id", "0123456789abcdef"), /already has a campaign/);
    expectFailure(await run(app, "campaign", "set", "nothing", "--name", "n"), /no campaign "nothing"/);
    expectFailure(await run(app, "campaign", "link", "nothing"), /no campaign "nothing"/);
    expectFailure(await run(app, "campaign", "link", "0123456789abcdef"), /--platform/);
    const nobody = { appId: 999_999_999 } as App;
    for (const command of [["create"], ["list"], ["set", "x", "--name", "n"], ["link", "x"]])
      expectFailure(await run(nobody, "campaign", ...command), /no app 999999999/);
  });

  test("wrong arguments are named, with exit code 2", async () => {
    expectWrongArguments(await run(app, "campaign", "create", "--id", "short"), /--id.*16/);
    expectWrongArguments(await run(app, "campaign", "create", "--platform", "natural"), /--platform/);
    expectWrongArguments(await run(app, "campaign", "create", "--os", "windows"), /--os/);
    expectWrongArguments(await run(app, "campaign", "link", "x", "--base-url", "example.com"), /--base-url/);
    expectWrongArguments(await run(app, "campaign", "link", "x", "--macro", "oaid"), /--macro/);
    expectWrongArguments(await run(app, "campaign", "link", "x", "--platform", "a b"), /--platform/);
    expectWrongArguments(await run(app, "campaign", "set"), /id/);
    expectWrongArguments(await cli(dataDir, ["campaign", "list"]), /--app/);
  });

  test("link prints links that the server accepts, with the platform's own macros", async () => {
    const create = ["campaign", "create", "--platform", "tencent", "--channel", "渠 道"];
    const { turbo_promoted_object_id: id } = await runJson(app, ...create);
    const links = await runJson(app, "campaign", "link", id, "--base-url", `${server.url}/`);
    expect(links).toMatchObject([
      { ad_platform: "tencent", kind: "click", url: expect.stringContaining("click_id=__CLICK_ID__") },
      { ad_platform: "tencent", kind: "impression", url: expect.stringContaining("impression_id=__IMPRESSION_ID__") },
    ]);
    for (const { kind, url } of links) {
      const head = `${server.url}/event_center/api/v1/event/${kind}/?app_id=${app.appId}&company=tencent&track_id=${id}`;
      expect(url.startsWith(`${head}&channel=${encodeURIComponent("渠 道")}&`)).toBe(true);
      expect(await (await fetch(url)).json()).toMatchObject({ ret: 0, code: 0 });
    }
    const text = (await run(app, "campaign", "link", id)).stdout;
    expect(text).toContain("tencent click\nhttps://your.domain/event_center/api/v1/event/click/?app_id=");
  });

  test("link prints the links of another platform, of all platforms, and with custom macros", async () => {
    const id = "link-0123456789a";
    await runJson(app, "campaign", "create", "--id", id, "--platform", "tencent");
    const link = (...args: string[]) => runJson(app, "campaign", "link", id, ...args);
    const names = async (...args: string[]) =>
      (await link(...args)).map((one: any) => `${one.ad_platform} ${one.kind}`);
    expect(await names("--platform", "baidu")).toEqual(["baidu click"]);
    expect(await names("--platform", "my_network")).toEqual(["my_network click", "my_network impression"]);
    const all = await names("--platform", "all");
    for (const name of ["tencent", "kuaishou", "bytedance", "baidu", "bilibili", "vivo", "oppo", "xiaomi", "huawei"])
      expect(all).toContain(`${name} click`);
    expect(new Set(all).size).toBe(all.length);
    const [own] = await link("--platform", "baidu", "--macro", "oaid=__OAID_NEW__", "--macro", "extra={{EXTRA}}");
    expect(own.url).toMatch(/&oaid=__OAID_NEW__&.*&extra=\{\{EXTRA\}\}&sign=__SIGN__$/);
  });
});

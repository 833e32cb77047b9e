import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  programOf,
  type SnippetComments,
  type SnippetLanguage,
  type SnippetValues,
  STEPS,
  snippetOf,
} from "../../../web/src/pages/start/snippets.ts";
import { texts } from "../../../web/src/pages/start/texts.ts";
import { AdminCaller } from "../../support/admin-caller.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { type Row, Tables } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);
const admin = new AdminCaller(server);
const run = promisify(execFile);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "touchpoint-snippets-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The command that runs a program of each language. */
const RUNNERS = { curl: ["sh", "sh"], javascript: ["node", "cjs"], python: ["python3", "py"] } as const;
type Runnable = keyof typeof RUNNERS;

async function execute(language: Runnable, program: string): Promise<string> {
  const [command, ending] = RUNNERS[language];
  const file = join(folder, `snippet-${language}.${ending}`);
  writeFileSync(file, program);
  const { stdout } = await run(command, [file]);
  return stdout;
}

/** A new app with a campaign, as the page finds it. */
async function valuesFor(more: Partial<SnippetValues> = {}, app: Row = {}): Promise<SnippetValues> {
  const { data: made } = await admin.post("apps/create", { name: "New", ...app });
  const adPlatform = more.adPlatform ?? "tencent";
  const asked = { app_id: made.app_id, name: "Test", ad_platform: adPlatform };
  const { data: campaign } = await admin.post("campaigns/create", asked);
  return {
    baseUrl: server.url,
    appId: made.app_id,
    accessToken: made.access_token,
    currency: made.currency,
    metadata: made.metadata,
    campaignId: campaign.turbo_promoted_object_id,
    adPlatform,
    player: "test-7k3m",
    ...more,
  };
}

const programFor = (language: SnippetLanguage, values: SnippetValues, comments: SnippetComments = texts.en.comments) =>
  programOf(snippetOf(language, values, comments));

/** Checks that the checklist is done as far as snippets can do it, and that the player came from the campaign and paid. */
async function expectAttributedPayment({ appId, campaignId, adPlatform, player }: SnippetValues): Promise<void> {
  await server.settle();
  const { data: steps } = await admin.get("apps/checklist", { app_id: appId });
  for (const step of ["request", "registration", "event", "order", "touch"])
    expect(steps[step], step).toMatchObject({ done: true });
  const { data: why } = await admin.get("attribution/why", { app_id: appId, client_id: player });
  expect(why).toMatchObject({ verdict: "attributed", touch: { platform: adPlatform, campaign: campaignId } });
  const orders = await tables.query("select cents::int, trace_id from orders where app_id = $1", [appId]);
  expect(orders).toEqual([{ cents: 600, trace_id: `order-${player}` }]);
}

describe("following the snippets takes a new app from nothing to its first attributed payment:", () => {
  test.each<Runnable>(["curl", "javascript", "python"])("%s, however often", async (language) => {
    const values = await valuesFor();
    for (const comments of [texts.en.comments, texts.zh.comments]) {
      await execute(language, programFor(language, values, comments));
      await expectAttributedPayment(values);
    }
  });

  test("javascript in a mini-game, which has wx and no fetch", async () => {
    const values = await valuesFor();
    const request = ({ url, method, data, success, fail }: Row) =>
      fetch(url, { method, ...(data && { body: JSON.stringify(data) }) })
        .then((reply) => reply.json())
        .then((answer) => success({ data: answer }), fail);
    await new Promise((log) => {
      runInNewContext(programFor("javascript", values), { wx: { request }, console: { log } });
    });
    await expectAttributedPayment(values);
  });

  test("go sends what the others send", async () => {
    const values = await valuesFor();
    for (const sent of callsOfGo(programFor("go", values))) {
      const reply = await fetch(`${values.baseUrl}/event_center/api/v1${sent.path}`, sent.init);
      expect(await reply.json(), JSON.stringify(sent)).toMatchObject({ code: 0 });
    }
    await expectAttributedPayment(values);
  });

  test.each(["kuaishou", "bytedance", "baidu", "vivo", "taptap"])("for a campaign of %s", async (adPlatform) => {
    const values = await valuesFor({ adPlatform });
    await execute("curl", programFor("curl", values));
    await expectAttributedPayment(values);
  });

  test("for an app that accepts only declared events, in its own currency", async () => {
    const values = await valuesFor({}, { metadata: "strict", currency: "USD" });
    await execute("curl", programFor("curl", values));
    await expectAttributedPayment(values);
  });
});

test.each<SnippetLanguage>(["curl", "javascript", "python", "go"])(
  "%s: every step is its own block, and no placeholder is left",
  async (language) => {
    const blocks = snippetOf(language, await valuesFor(), texts.en.comments);
    expect(blocks.map(({ step }) => step).filter((step) => step !== "begin" && step !== "end")).toEqual([...STEPS]);
    for (const { code } of blocks) expect(code).not.toMatch(/\{\{|(?<!")undefined/);
  },
);

/** The calls that the Go program makes, read from its text, because a Go compiler is not available everywhere. */
function callsOfGo(program: string): { path: string; init: RequestInit }[] {
  const constant = (name: string) => new RegExp(`const ${name} = "(.*)"`).exec(program)![1]!;
  const [, link] = /call\("GET", "(.*)", ""\)/.exec(program)!;
  const [, registerPath, body] = /call\("POST", "(\/user\/.*)"\+token,\s*`(.*)`\)/.exec(program)!;
  const [, collectPath] = /call\("POST", "(\/event\/.*)"\+token, fmt/.exec(program)!;
  const format = /fmt\.Sprintf\(\s*`(.*)`,\s*player, event, time\.Now\(\)\.UnixMilli\(\), properties\)/.exec(
    program,
  )![1]!;
  const tracked = [...program.matchAll(/track\("(.*)", `(.*)`\)/g)].map(([, event, properties]) => {
    const given = [JSON.stringify(constant("player")), JSON.stringify(event), String(Date.now()), properties!];
    return format.replaceAll(/%[qds]/g, () => given.shift()!);
  });
  const post = (path: string, text: string) => ({
    path: path + constant("token"),
    init: { method: "POST", body: text },
  });
  return [{ path: link!, init: {} }, post(registerPath!, body!), ...tracked.map((text) => post(collectPath!, text))];
}

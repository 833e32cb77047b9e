import { createHash } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { cliJson } from "../../cli/run.ts";
import { type Call, call as callUrl } from "../../support/call.ts";
import { eventually } from "../../support/patience.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { BASE, type Row, Tables } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);

/** Calls a path and query exactly as given, without further encoding. */
const call = (pathAndQuery: string, sent: Call = {}) => callUrl(`${server.url}${BASE}/event/${pathAndQuery}`, sent);
const code = async (pathAndQuery: string, sent: Call = {}) => (await call(pathAndQuery, sent)).code;

const FORM = { "content-type": "application/x-www-form-urlencoded" };
const AKEY = "ak/+=日 1";
const setAkey = ({ appId }: App, akey: string) =>
  cliJson(server.dataDir, ["rules", "set", "--app", String(appId), "--platform", "baidu", "--akey", akey]);

/** An app without an akey, and one whose clicks must be signed. */
let open: App;
let guarded: App;
beforeAll(async () => {
  [open, guarded] = [await server.createApp(), await server.createApp()];
  await setAkey(guarded, AKEY);
  // Clicks are accepted until the akey is in force.
  await eventually(async () => expect(await code(unsigned("probe"))).toBe(2002));
});

const unsigned = (vid: string, more = "", app = guarded) =>
  `click/?app_id=${app.appId}&company=baidu&bd_vid=${vid}&aid_name=%E5%B9%BF${more}`;
const signOf = (text: string) => createHash("md5").update(text).digest("hex");
const signed = (pathAndQuery: string, akey = AKEY, scheme = "http") => {
  const url = `${server.url}${BASE}/event/${pathAndQuery}`.replace(/^http/, scheme);
  return `${pathAndQuery}&sign=${signOf(url + akey)}`;
};

/** The stored touches of the guarded app with one of these ids. */
const storedWith = (...vids: string[]): Promise<Row[]> =>
  tables.query("select ad_platform from touch where app_id = $1 and details->>'bd_vid' = any ($2)", [
    guarded.appId,
    vids,
  ]);

describe("Baidu's sign", () => {
  test("is not required without an akey: any click is accepted", async () => {
    expect(await code(unsigned("v1", "", open))).toBe(0);
    expect(await code(`${unsigned("v1", "", open)}&sign=${"0".repeat(32)}`)).toBe(0);
  });

  test("is checked with an akey, and a click that fails is refused with 2002 and not stored", async () => {
    const forged = [
      `${unsigned("v1")}&sign=${"0".repeat(32)}`,
      `${unsigned("v1")}&sign=`,
      `${unsigned("v1")}&sign=__SIGN__`,
      signed(unsigned("v1"), "another key"),
      signed(unsigned("v2")).replace("v2", "v1"),
      `${signed(unsigned("v1"))}&aid=7`,
    ];
    for (const link of forged)
      expect([link, await call(link)]).toMatchObject([
        link,
        { status: 200, code: 2002, msg: expect.stringContaining("sign"), data: {} },
      ]);
    expect(await storedWith("v1")).toEqual([]);
  });

  test("accepts what Baidu has signed, by GET and POST, over http and behind a proxy that terminates https", async () => {
    expect(await code(signed(unsigned("good", "&n=1")))).toBe(0);
    expect(await code(signed(unsigned("good", "&n=2")), { method: "POST" })).toBe(0);
    expect(await code(signed(unsigned("good", "&n=3"), AKEY, "https"))).toBe(0);
    const upper = signed(unsigned("good", "&n=4")).replace(/[0-9a-f]{32}$/, (sign) => sign.toUpperCase());
    expect(await code(upper)).toBe(0);
  });

  test("cannot be bypassed by a company that is checked as one and stored as another", async () => {
    for (const companies of [
      "%63ompany=baidu&company=tencent",
      "company=&company=baidu",
      "company=__COMPANY__&company=BAIDU",
      "company=+baidu&company=tencent",
      "compan%79=%62aidu",
    ]) {
      const link = `click/?app_id=${guarded.appId}&${companies}&bd_vid=forged`;
      expect([companies, await code(link)]).toEqual([companies, 2002]);
    }
    // Checked as Tencent's, it is stored as Tencent's.
    const both = `click/?app_id=${guarded.appId}&company=tencent&company=baidu&click_id=c&bd_vid=forged`;
    expect(await call(both)).toMatchObject({ ret: 0 });
    expect(await storedWith("forged")).toMatchObject([{ ad_platform: "tencent" }]);
  });

  test("does not accept what it does not cover: a body, or a second value of a name", async () => {
    const link = signed(unsigned("covered"));
    expect(await code(link, { method: "POST", body: "aid=forged", headers: FORM })).toBe(2002);
    expect(await code(link, { method: "POST", body: '{"aid":"forged"}' })).toBe(2002);
    expect(await code(signed(unsigned("covered", "&bd_vid=v3")))).toBe(2002);
    expect(await code(signed(unsigned("covered", "&%62d_vid=v3")))).toBe(2002);
    expect(await storedWith("covered", "v3")).toEqual([]);
    expect(await code(link)).toBe(0);
  });

  test("is only required for Baidu, and the akey can be removed again", async () => {
    expect(await code(`click/?app_id=${guarded.appId}&company=kuaishou`)).toBe(0);
    const own = await server.createApp();
    await setAkey(own, AKEY);
    await expect.poll(() => code(unsigned("probe", "", own))).toBe(2002);
    await setAkey(own, "");
    await expect.poll(() => code(unsigned("probe", "", own))).toBe(0);
  });
});

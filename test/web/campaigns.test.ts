import { beforeAll, describe, expect, test } from "vitest";
import { PLATFORM_NAMES, platformNamed } from "../../src/platform/registry.ts";
import { texts as linkTexts } from "../../web/src/pages/campaigns/link-texts.ts";
import { ConsoleTest, LastingVisit, type Visit } from "./browser.ts";

let site: ConsoleTest;
let appId: number;

beforeAll(async () => {
  site = await ConsoleTest.shared();
  const app = await site.server.createApp({ name: "Idle Farm" });
  appId = app.appId;
  const platforms = ["tencent", "bytedance", "kuaishou", "vivo", "asa"];
  for (let number = 1; number <= 24; number += 1) {
    const ad_platform = platforms[number % platforms.length];
    const fields = { channel: `channel-${number % 3}`, operator: number % 2 ? "王芳" : "Ann", dept: "UA" };
    const turbo_promoted_object_id = `campaign-${String(number).padStart(7, "0")}`;
    await made({ turbo_promoted_object_id, name: `Summer push ${number}`, ad_platform, ...fields });
  }
  for (const oaid of ["a", "b", "c"]) {
    const click = { company: "vivo", track_id: "campaign-0000023", oaid, ts: String(Date.now() - 60_000) };
    await site.server.get("/event_center/api/v1/event/click/", { app_id: String(appId), ...click });
  }
  await site.server.settle();
});

const lasting = new LastingVisit(() => site);

async function made(campaign: object): Promise<void> {
  expect(await site.api("campaigns/create", { app_id: appId, ...campaign })).toMatchObject({ code: 0 });
}

const open = (search = ""): Promise<Visit> => lasting.open(`/campaigns?app=${appId}${search}`);

const rows = ({ page }: Visit) => page.locator("tbody tr");

describe("the list of campaigns", () => {
  test("is readable in both themes and languages; on a phone the table scrolls, the page does not", async () => {
    const visit = await open();
    await visit.inspect("campaigns", (page) => page.getByText("Summer push 24").waitFor());
    await visit.fitsPhone("campaigns");
  });

  test("shows the results of links, and can be paged and searched, with its state in the address", async () => {
    const visit = await open();
    const { page } = visit;
    await page.getByRole("navigation", { name: "Pagination" }).getByText("Page 1 of 2 · 24 rows").waitFor();
    await expect
      .poll(() => rows(visit).filter({ hasText: "Summer push 23" }).locator("td.number").allInnerTexts())
      .toEqual([...["3", "0", "0"]]);
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("Page 2 of 2").waitFor();
    await expect.poll(() => rows(visit).count()).toBe(4);
    await page.getByLabel("Search").fill("push 7");
    await page.getByText("Page 1 of 1 · 1 rows").waitFor();
    expect(page.url()).toContain("search=push+7");
    await page.reload();
    await page.getByText("Page 1 of 1 · 1 rows").waitFor();
    await page.getByLabel("Search").fill("nothing of the kind");
    await page.getByText("No campaign matches “nothing of the kind”").waitFor();
    expect(visit.complaints).toEqual([]);
  });

  test("says what to do in an app without campaigns", async () => {
    const { appId: empty } = await site.server.createApp({ name: "Empty" });
    const visit = await lasting.open(`/campaigns?app=${empty}`);
    await visit.page.getByText("No campaigns yet").waitFor();
  });
});

describe("a campaign", () => {
  test("is created and changed; a refusal is shown beside the field", async () => {
    const visit = await open();
    const { page } = visit;
    await page.getByRole("button", { name: "New campaign" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Autumn");
    await dialog.getByLabel("Ad platform").selectOption("tencent");
    await dialog.getByLabel("ID").fill("short");
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByText("turbo_promoted_object_id must match pattern").waitFor();
    await dialog.getByLabel("ID").fill("campaign-0000001");
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByText("The app already has a campaign with this turbo_promoted_object_id.").waitFor();
    await dialog.getByLabel("ID").fill("autumn-000000001");
    await dialog.getByRole("button", { name: "Create" }).click();
    await page.getByText("Campaign created.").waitFor();
    const row = rows(visit).first();
    await expect.poll(() => row.textContent()).toMatch(/Autumn[\s\S]*autumn-000000001[\s\S]*Tencent/);
    await row.getByRole("button", { name: "Edit" }).click();
    await dialog.getByLabel("Ad platform").selectOption("Other…");
    await dialog.getByLabel("Platform name").fill("my space");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("ad_platform is not the name of a platform.").waitFor();
    await dialog.getByLabel("Platform name").fill("myspace");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("Campaign saved.").waitFor();
    await rows(visit).first().getByText("myspace").waitFor();
    expect(visit.complaints).toEqual([]);
  });

  test("has links to copy, with the platform's macros and an address that is remembered", async () => {
    const visit = await open("&search=Summer+push+20");
    const { page } = visit;
    const show = async () => {
      await page.locator("tbody button").first().click();
      await page.locator("summary").first().click();
      await page.getByText("__ACCOUNT_ID__", { exact: true }).first().waitFor();
    };
    await show();
    await page.getByText("All macros are confirmed").first().waitFor();
    await page.getByText("What the 28 macros mean").first().waitFor();
    await page.getByText("The advertiser account").first().waitFor();
    const dialog = page.getByRole("dialog");
    const url = dialog.getByLabel("Public address of this server");
    await expect.poll(() => url.inputValue()).toBe(site.server.url);
    await dialog.getByText("it must be publicly reachable").waitFor();
    await url.fill("track.example.com");
    await dialog.getByText("base_url must be an address such as https://track.example.com.").waitFor();
    await url.fill("https://track.example.com");
    await dialog.getByText("https://track.example.com/event_center/api/v1/event/impression/?").waitFor();
    const click = await dialog.locator("pre").first().textContent();
    expect(click).toMatch(
      /^https:\/\/track\.example\.com\/event_center\/api\/v1\/event\/click\/\?app_id=\d+&company=tencent/,
    );
    expect(click).toContain("track_id=campaign-0000020");
    expect(click).toContain("__CLICK_ID__");
    await dialog.getByLabel("Ad platform").selectOption("asa");
    await dialog.getByText("This platform calls no links.").waitFor();
    await page.reload();
    await visit.inspect("campaign-links", show);
    await expect.poll(() => url.inputValue()).toBe("https://track.example.com");
  });

  test("is shown to an analyst without anything to change", async () => {
    const visit = await site.visit({ as: await site.analyst() });
    const { page } = visit;
    await visit.open(`/campaigns?app=${appId}`);
    await page.getByText("Summer push 24").waitFor();
    await expect.poll(() => page.getByRole("button", { name: "New campaign" }).count()).toBe(0);
    await expect.poll(() => page.getByRole("button", { name: "Edit" }).count()).toBe(0);
    await page.getByRole("button", { name: "Links" }).first().click();
    await page.getByRole("dialog").locator("pre").first().waitFor();
  });
});

test("every parameter of every link is explained, in both languages", () => {
  const parameters = PLATFORM_NAMES.flatMap((name) => {
    const { click = [], impression = [] } = platformNamed(name)!;
    return [...(click ?? []), ...(impression ?? [])].map(([parameter]) => parameter.replace(/_2$/, ""));
  });
  expect(new Set(parameters).size).toBeGreaterThan(30);
  for (const { parameters: explained } of [linkTexts.en, linkTexts.zh])
    expect(parameters.filter((parameter) => !(parameter in explained))).toEqual([]);
});

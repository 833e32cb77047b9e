import { expect, test } from "vitest";
import { settingsOf } from "../../src/platform/connector/connector.ts";
import { costConnectorOf, PLATFORM_NAMES } from "../../src/platform/registry.ts";

const NAMES = ["tencent", "kuaishou", "bytedance", "baidu", "asa"];

test("five platforms report costs, under the names that reports use", () => {
  expect(PLATFORM_NAMES.filter((name) => costConnectorOf(name))).toEqual(NAMES);
  expect(costConnectorOf("natural")).toBeUndefined();
  expect(costConnectorOf("constructor")).toBeUndefined();
});

test.each(NAMES)("exactly the keys and tokens of %s are secrets", (name) => {
  const { fields } = costConnectorOf(name)!;
  expect(new Set(fields.map((field) => field.name)).size).toBe(fields.length);
  for (const field of fields) {
    expect([field.name, field.isSecret === true]).toEqual([
      field.name,
      /secret$|^private_key$|_token$/.test(field.name),
    ]);
    expect(field.hint).not.toBe("");
  }
});

test.each(NAMES)("%s is called at its own address unless the account names another", (name) => {
  const connector = costConnectorOf(name)!;
  const at = (values: Record<string, string>) => {
    const context = { account: settingsOf(connector.fields, values), nowMs: 0, nonce: "n" };
    const questions = connector.start({ fromDay: "2026-11-01", toDay: "2026-11-01" }, context);
    return questions.map((question) => new URL(connector.request(question, context).url).origin);
  };
  expect(at({}).every((origin) => origin.startsWith("https://"))).toBe(true);
  expect(new Set(at({ base_url: "http://localhost:9" }))).toEqual(new Set(["http://localhost:9"]));
});

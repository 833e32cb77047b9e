import { readdirSync } from "node:fs";
import { Ajv } from "ajv";
import { expect, test } from "vitest";

const CONTRACT = new URL("../src/contract/", import.meta.url);

const isSchema = (value: unknown): value is object =>
  typeof value === "object" && value !== null && ["type", "anyOf", "enum"].some((key) => Object.hasOwn(value, key));

test("every schema of the contract is a valid JSON schema", async () => {
  const ajv = new Ajv({ allowUnionTypes: true });
  expect(ajv.validateSchema({ type: "texts" })).toBe(false);
  const files = readdirSync(CONTRACT, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  const exported: [string, unknown][] = [];
  for (const file of files) {
    const names: Record<string, unknown> = await import(new URL(file, CONTRACT).href);
    for (const [name, value] of Object.entries(names)) exported.push([`${file} ${name}`, value]);
  }
  const schemas = exported.filter(([, value]) => isSchema(value));
  expect(schemas.length).toBeGreaterThan(100);
  expect(schemas.filter(([, schema]) => !ajv.validateSchema(schema as object)).map(([name]) => name)).toEqual([]);
});

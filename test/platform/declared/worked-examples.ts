import { readFileSync } from "node:fs";
import type { JsonObject } from "../../../src/domain/json.ts";

const DOCUMENT = readFileSync(new URL("../../../docs/CONNECTORS.md", import.meta.url), "utf8");

/** A worked example of docs/CONNECTORS.md, as it stands there. */
export function workedExample(platform: "uc" | "qihu360"): JsonObject {
  const [, json] = new RegExp(`\`\`\`json ${platform}\\n([\\s\\S]*?)\`\`\``).exec(DOCUMENT) ?? [];
  return JSON.parse(json!) as JsonObject;
}

/**
 * Which files of src may import which. Imports point down only. A row is a folder, or a file that may do more or less than
 * its folder; it says nothing of the folders below. What it lists are rows, and `domain/*` is a folder with all below it.
 * The files at the root of src are open to all and may import anything.
 */
export const MAY_IMPORT: Readonly<Record<string, readonly string[] | "everything">> = {
  contract: ["domain"],
  domain: [],
  journal: [],
  platform: ["domain", "platform/*"],
  "platform/postback": ["domain", "platform"],
  "platform/cost": ["domain", "platform"],
  db: ["domain"],
  report: ["contract", "db", "domain"],
  apply: ["journal", "db", "domain", "intake/pace.ts", "platform", "platform/postback"],
  asa: ["db", "domain"],
  outbound: ["db", "domain", "platform/*"],
  postback: ["db", "domain", "outbound", "platform/*"],
  cost: ["db", "domain", "outbound", "platform/*"],
  refresh: ["db"],
  intake: ["db", "domain", "journal"],
  "intake/body": ["contract", "domain", "intake"],
  "intake/flow.ts": ["apply", "db", "domain", "intake", "intake/body", "journal"],
  "intake/pace.ts": [],
  http: ["contract", "cost", "intake/*", "journal", "db", "domain", "outbound", "platform", "postback", "report"],
  client: ["contract", "domain", "report"],
  cli: "everything",
};

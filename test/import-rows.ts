/**
 * Which files of src may import which. Imports point down only. A row is a folder without the folders below it, or a single
 * file that may do more or less than its folder. It lists rows; `domain/*` is a folder with all that is below it. The files
 * at the root of src are open to all and may import anything.
 */
const ROWS: Readonly<Record<string, string>> = {
  domain: "",
  "domain/user": "domain",
  "domain/event": "domain",
  "domain/event/plain": "domain domain/event",
  "domain/access": "domain/user",
  "domain/attribution": "domain domain/user",
  "domain/postback": "domain domain/event domain/user",
  "domain/doctor": "domain domain/event domain/user",
  contract: "",
  "contract/collect": "contract",
  "contract/report": "contract domain/*",
  "contract/setting": "contract contract/report domain/*",
  "contract/admin": "contract contract/analysis contract/report domain/*",
  "contract/analysis": "contract",
  journal: "",
  "journal/jetstream": "journal",
  "platform/platform.ts": "domain/*",
  "platform/connector": "domain/* platform/platform.ts",
  ...eachPlatform("domain/* platform/connector platform/platform.ts"),
  "platform/declared": "domain/* platform/connector platform/platform.ts",
  "platform/registry.ts": "domain/* platform/*",
  platform: "domain/* platform/connector platform/platform.ts platform/registry.ts",
  "db/engine/failure.ts": "",
  "db/server": "db/engine/failure.ts",
  "db/engine": "db/engine/failure.ts db/server domain/event",
  db: "db/engine db/engine/failure.ts db/server domain/*",
  "db/replica": "db db/engine db/engine/failure.ts db/server",
  "db/lock": "db db/engine db/engine/failure.ts db/server",
  report: "db/* domain/*",
  "report/metric": "contract/admin domain",
  "report/list": "contract/admin contract/report db/* domain/* report",
  "report/ad": "contract/admin db/* domain/* report report/list report/metric",
  "report/user": "contract/admin db/* domain/* report/list",
  "report/attribution": "contract/admin db/* domain/*",
  "report/view": "db/* domain report/metric",
  "report/analysis": "contract/analysis domain report",
  "apply/entry": "db domain domain/event/* domain/user journal platform",
  "apply/touch": "apply/entry db domain domain/attribution domain/user platform",
  "apply/facts": "apply/entry apply/touch db db/engine domain/* journal platform/registry.ts",
  "apply/step":
    "apply/entry apply/facts apply/touch db domain/* journal platform/apple platform/platform.ts platform/registry.ts",
  apply: "apply/* db/* domain/* intake/pace.ts journal journal/jetstream",
  "apply/worker.ts": "apply apply/entry db db/engine db/server domain lake",
  asa: "db domain intake",
  outbound: "db/* domain/* platform platform/connector platform/declared platform/registry.ts",
  postback: "db/* domain/* outbound platform platform/connector platform/registry.ts",
  cost: "db/* domain domain/user outbound platform/connector platform/registry.ts",
  cluster: "db",
  refresh: "db/* domain intake/pace.ts",
  lake: "db/* domain domain/event domain/user intake/pace.ts journal",
  "lake/bucket": "db/* domain intake/pace.ts journal lake",
  admin: "contract contract/setting db/* domain",
  "admin/session": "admin contract/setting db/* domain/access",
  "admin/setting":
    "admin contract contract/admin contract/setting db/* domain/* outbound platform platform/declared platform/registry.ts postback",
  "admin/operation":
    "admin admin/setting contract/admin contract/setting cost db/* domain/* outbound platform/registry.ts postback",
  "admin/report":
    "admin contract/admin contract/analysis db/* domain domain/access domain/user report report/analysis report/list",
  backup: "db/* domain intake/settings-copy.ts journal journal/jetstream lake",
  intake: "db db/engine db/lock domain/* journal",
  "intake/body": "contract contract/collect domain/* intake",
  "intake/pace.ts": "",
  "intake/settings-copy.ts": "db domain/event intake journal",
  "intake/open-journal.ts": "apply db intake journal journal/jetstream",
  "intake/flow.ts": "apply db/* domain domain/user intake intake/body intake/open-journal.ts intake/pace.ts journal",
  http: "contract db/* domain intake intake/body",
  "http/collect":
    "contract contract/collect db domain/* http http/live intake intake/body journal platform platform/platform.ts platform/registry.ts",
  "http/lane": "http",
  "http/live": "contract domain intake journal",
  "http/report":
    "contract contract/report db db/replica domain domain/access intake report/ad report/list report/metric",
  "http/admin": "admin admin/session contract db/* domain domain/access http intake outbound platform",
  "http/admin/session":
    "admin admin/session contract contract/setting db/* domain domain/access http http/admin intake outbound",
  "http/admin/setting":
    "admin admin/setting contract contract/admin contract/setting db/* domain domain/access domain/attribution domain/postback http/admin intake outbound platform platform/declared platform/registry.ts postback report report/attribution report/list",
  "http/admin/report":
    "admin admin/report admin/setting contract/admin contract/analysis contract/report db/* domain/access domain/attribution domain/user http/admin http/live http/report intake journal lake platform/registry.ts report/*",
  "http/admin/operation":
    "admin admin/operation contract contract/admin contract/setting cost db/* domain domain/access domain/doctor domain/postback domain/user http/admin http/live intake journal outbound platform/registry.ts postback report report/list",
  "http/admin/admin-routes.ts": "domain http http/admin http/admin/*",
  "http/server.ts": "contract http http/admin/admin-routes.ts http/collect http/lane http/live http/report",
  client: "contract/report domain/access report/ad report/list",
  cli: "everything",
  "cli/completion": "cli",
  "cli/setting": "everything",
  "cli/report": "everything",
  "cli/operation": "everything",
};

/** Every platform has a folder, and none knows another. */
function eachPlatform(names: string): Record<string, string> {
  const platforms = "apple baidu bilibili bytedance douyin honor huawei kuaishou oppo tencent vivo wechat xiaomi".split(
    " ",
  );
  return Object.fromEntries(platforms.map((platform) => [`platform/${platform}`, names]));
}

export const MAY_IMPORT: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(ROWS).map(([row, names]) => [row, names.split(" ").filter((name) => name !== "")]),
);

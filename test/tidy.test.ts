import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { checksumOf } from "../src/db/engine/migrate.ts";
import { SETTINGS } from "../src/settings.ts";
import { MAY_IMPORT } from "./import-rows.ts";
import { LANDED_MIGRATIONS } from "./landed-migrations.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));

const LINES_MAX = 400;
const FUNCTION_LINES_MAX = 70;

type Source = { path: string; text: string; code: string };

function filesUnder(folder: string): string[] {
  const top = join(ROOT, folder);
  if (!existsSync(top)) return [];
  return readdirSync(top, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .sort();
}

function sourcesUnder(...folders: string[]): Source[] {
  return folders
    .flatMap(filesUnder)
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => {
      const text = readFileSync(join(ROOT, path), "utf8");
      return { path, text, code: withoutComments(text) };
    });
}

const TEXT_OR_COMMENT = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*/gm;

function withoutComments(text: string): string {
  return text.replace(TEXT_OR_COMMENT, (token) => (token.startsWith("/") ? token.replace(/[^\n]/g, " ") : token));
}

const src = sourcesUnder("src");
const web = sourcesUnder("web/src");
const all = [...sourcesUnder("src", "sim", "test", "bench"), ...web];

test("every folder of src has its row in the table of imports, and every row its folder or file", () => {
  const folders = new Set(src.map(({ path }) => dirname(path).slice("src/".length)).filter((folder) => folder !== ""));
  expect([...folders].filter((folder) => !MAY_IMPORT.has(folder))).toEqual([]);
  const named = [...MAY_IMPORT].flatMap(([row, names]) => [row, ...names.map((name) => name.replace(/\/\*$/, ""))]);
  expect(named.filter((name) => name !== "everything" && !existsSync(join(ROOT, "src", name)))).toEqual([]);
  expect(folders.size).toBeGreaterThan(5);
});

test("imports point down only", () => {
  expect(src.flatMap(wrongImports)).toEqual([]);
});

test("an import that points up, sideways or out of src is found", () => {
  const wrongFrom = (path: string, code: string) => wrongImports({ path, text: code, code });
  expect(wrongFrom("src/domain/a.ts", 'import { b } from "../db/b.ts";')).toHaveLength(1);
  expect(wrongFrom("src/platform/a.ts", 'export type { b } from "../journal/b.ts";')).toHaveLength(1);
  expect(wrongFrom("src/http/a.ts", 'const b = await import("../apply/b.ts");')).toHaveLength(1);
  expect(wrongFrom("src/http/a.ts", 'import b from "../../test/b.ts";')).toHaveLength(1);
  expect(wrongFrom("src/http/report/a.ts", 'import b from "../admin/b.ts";')).toHaveLength(1);
  expect(wrongFrom("src/http/report/a.ts", 'import b from "../server.ts";')).toHaveLength(1);
  expect(wrongFrom("src/http/report/a.ts", 'import b from "../../report/ad/b.ts";')).toEqual([]);
  expect(wrongFrom("src/http/a.ts", 'import b from "../intake/body/b.ts"; import c from "../errors.ts";')).toEqual([]);
});

test("the console takes only types from the server, and only from its contract", () => {
  const offences = (code: string) =>
    [...code.matchAll(/^import (?!type \{).*"((?:\.\.\/)+src\/[^"]+)"|"((?:\.\.\/)+src\/(?!contract\/)[^"]+)"/gm)].map(
      ([line]) => line,
    );
  expect(offences('import { a } from "../../src/contract/a.ts";')).toHaveLength(1);
  expect(offences('import type { A } from "../../src/db/a.ts";')).toHaveLength(1);
  expect(offences('import type { A } from "../../src/contract/a.ts";')).toEqual([]);
  expect(web.length).toBeGreaterThan(10);
  expect(web.flatMap(({ path, code }) => offences(code).map((line) => `${path}: ${line}`))).toEqual([]);
});

test("every text of the console exists in both languages", () => {
  const inOneOnly = web.filter(({ code }) => /^ {2}en: /m.test(code) !== /^ {2}zh: /m.test(code));
  expect(inOneOnly.map(({ path }) => path)).toEqual([]);
});

/** The row of a file: its own, or that of its folder; empty at the root of src. */
function rowOf(path: string): string {
  const file = path.slice("src/".length);
  return MAY_IMPORT.has(file) ? file : dirname(path).slice("src/".length);
}

function wrongImports({ path, code }: Source): string[] {
  const from = rowOf(path);
  const allowed = from === "" ? ["everything"] : (MAY_IMPORT.get(from) ?? []);
  return [...code.matchAll(/(?:\bfrom|\bimport\(|\bimport)\s*"(\.[^"]+)"/g)].flatMap(([, target]) => {
    const imported = join(dirname(path), target!).split(sep).join("/");
    if (!imported.startsWith("src/")) return [`${path} imports ${imported}`];
    const to = rowOf(imported);
    const isAllowed = to === "" || to === from || allowed.some((name) => isNamedBy(name, to));
    return isAllowed ? [] : [`${path} imports ${imported}`];
  });
}

function isNamedBy(name: string, row: string): boolean {
  if (name === "everything") return true;
  return name.endsWith("/*") ? `${row}/`.startsWith(name.slice(0, -1)) : row === name;
}

type Ban = {
  rule: string;
  where: (path: string) => boolean;
  pattern: RegExp;
  /** An offence that shows that the pattern works. */
  offence: string;
};

const inSrc = (path: string) => path.startsWith("src/");
const STATEMENT =
  /(?:["'`]\s*(?:select\s|insert into\s|update\s+\w+\s+set\s|delete from\s|(?:create|alter|drop)\s+(?:temporary\s+|unique\s+)?(?:table|index|database)\s|truncate\s|set local\s|listen\s|notify\s|copy\s+\w+|with\s+\w+\s+as\s*\(|begin["'`]|commit["'`]|rollback["'`])|\bsql`|\.query\(\s*["'`])/i;

/** How the names of secrets end. */
const SECRET =
  "[tT]oken|[sS]ign(?:ature)?|[sS]ecret|[pP]assword|[aA]pp_?[kK]ey|[aA]es_?[kK]ey|\\bakey|[hH]mac|[sS]ealed";

const BANS: readonly Ban[] = [
  {
    rule: "settings are read in config.ts alone",
    where: (path) => inSrc(path) && path !== "src/config.ts",
    pattern: /process\s*\.\s*env\b|\benv\s*}\s*=\s*process\b/,
    offence: "const port = process.env.PORT;",
  },
  {
    rule: "the system clock is read in clock.ts alone",
    where: (path) => inSrc(path) && path !== "src/clock.ts",
    pattern: /\bDate\.now\b|\bnew Date\(\s*\)|(?<!new )\bDate\(\s*\)|\bperformance\.now\b|\bhrtime\b/,
    offence: "const at = new Date();",
  },
  {
    rule: "SQL stands in db, report and lake alone",
    where: (path) => inSrc(path) && !/^src\/(?:db|report|lake)\//.test(path),
    pattern: STATEMENT,
    offence: 'await tx.query("set local synchronous_commit = off");',
  },
  {
    rule: "a statement never asks the database for the time, except about processes on several machines",
    where: (path) => /^src\/(?:db|report)\//.test(path) && path !== "src/db/node.ts",
    pattern:
      /\bnow\(\)|\bcurrent_(?:timestamp|date|time)\b|\blocaltimestamp\b|\b(?:clock|statement|transaction)_timestamp\b/i,
    offence: "sql`update app set changed_at = now()`",
  },
  {
    rule: "a status of the interface has a name, in statements too: see domain/postback/postback.ts and db/postback-status.ts",
    where: (path) => /^(?:src|web\/src)\//.test(path),
    // Statuses of HTTP have three digits.
    pattern: /status\s*(?:[!=]==?|<>|[<>]=?|=)\s*\d(?!\d)|status\s+(?:not\s+)?in\s*\(\s*\d/i,
    offence: "sql`select 1 from postback where status in (2, 3)`",
  },
  {
    rule: "query names columns in camelCase: no alias does it by hand",
    where: inSrc,
    pattern: /\bas "[a-z]+[A-Z]/,
    offence: 'sql`select app_id as "appId" from app`',
  },
  {
    rule: "rowsOf makes a table of rows: no list of columns is written by hand",
    where: (path) => inSrc(path) && path !== "src/db/engine/rows.ts",
    // The elements of a column, as in unnest(flags), are not rows of the program.
    pattern: /\bunnest\((?:\s*$|.*::\w+\[\])/,
    offence: "sql`select app_id from unnest($1::int[]) as wanted (app_id)`",
  },
  {
    rule: "what is replayed uses no random number and no network",
    where: (path) => /^src\/(?:apply|domain|platform)\//.test(path),
    pattern:
      // Parsing addresses with node:net is not network access.
      /\bMath\.random\b|\brandom(?:Bytes|UUID|Int)\b|\bfetch\(|(?<!import \{ (?:BlockList|isIP|isIPv6)(?:, (?:isIP|isIPv6))* \} from )"node:(?:https?|net|dns|tls)"|\bgen_random_uuid\b/,
    offence: "const id = randomUUID();",
  },
  {
    rule: "secrets are compared in constant time",
    where: inSrc,
    // Comparing with a literal, with undefined or by a look-up reveals nothing about the secret through timing.
    pattern: new RegExp(
      `(?:${SECRET})\\s*[!=]==?(?!=)\\s*(?!\\s|undefined\\b|null\\b|true\\b|false\\b|["'\`])|[!=]==?(?!=)\\s*(?:\\w+\\.)*\\w*(?:${SECRET})\\b(?!\\s*[(.])`,
    ),
    offence: "if (request.sign === expected) return;",
  },
  {
    rule: "secrets are sealed where the key is checked and the list of sealed columns stands",
    where: (path) =>
      inSrc(path) &&
      !["src/db/sealed.ts", "src/installation.ts", "src/intake/settings-copy.ts", "src/vault.ts"].includes(path),
    pattern: /\.seal\(/,
    offence: "const stored = vault.seal(secret);",
  },
  {
    rule: "every operation of the admin interface is declared by adminRoute or adminStreamRoute",
    where: (path) => path.startsWith("src/http/admin/") && path !== "src/http/admin/admin-route.ts",
    pattern: /\b(?:routes|server)\.(?:get|post|put|delete|route)\(/,
    offence: "routes.get(BASE, { handler });",
  },
  {
    rule: "there are no default exports",
    where: () => true,
    pattern: /^\s*export\s+default\b|\bas\s+default\b/m,
    offence: "export default function run() {}",
  },
  {
    rule: "no test is limited or judged by how long something takes: waits end by a condition, see test/support/patience.ts",
    where: (path) => path.startsWith("test/") && path !== "test/support/patience.ts",
    pattern:
      /\bvi\.wait\w+\(|\btimeout(?:Ms)?: *\d|^\s*\}, \d[\d_]*\);|\bAbortSignal\.timeout\((?!PATIENCE)|\bnow\(\) - \w+\)\.toBeLess/,
    offence: "expect(performance.now() - startedMs).toBeLessThan(500);",
  },
  {
    rule: "no literal is spread where it is written: the compiler would not see a name that does not belong there",
    where: () => true,
    pattern: /\.{3}\(?\{/,
    offence: `const call = { ${"..."}{ appId, name } };`,
  },
  {
    rule: "a number that bounds several files stands in limits.ts",
    where: (path) => inSrc(path) && path !== "src/limits.ts",
    pattern: /^export const \w+_(?:MAX|MIN) = \d/,
    offence: "export const ROWS_MAX = 500;",
  },
  {
    rule: "no test is left out, singled out or only planned",
    where: (path) => path.startsWith("test/"),
    pattern: /\b(?:test|it|describe|suite)(?:\.\w+)*\.(?:skip|only|todo|skipIf|runIf|fails)\b|\bx(?:it|describe)\(/,
    offence: `test${"."}concurrent${"."}skip("later", () => {});`,
  },
];

for (const { rule, where, pattern, offence } of BANS) {
  test(rule, () => {
    expect(offence).toMatch(pattern);
    const offenders = all.filter(({ path }) => where(path) && path !== "test/tidy.test.ts");
    expect(offenders.length).toBeGreaterThan(0);
    expect(offenders.flatMap(({ path, code }) => offencesIn(path, code, pattern))).toEqual([]);
  });
}

test.each<[string, boolean]>([
  ["given.appKey !== app.appKey", true],
  ["expected == token", true],
  ["a === user.password", true],
  ["sealed===other", true],
  ['token === ""', false],
  ["sign !== undefined", false],
  ["isSecret === true", false],
  ['typeof token !== "string"', false],
  ["length !== token.length", false],
])("whether %s compares a secret: %s", (code, isBanned) => {
  const { pattern } = BANS.find(({ rule }) => rule === "secrets are compared in constant time")!;
  expect(pattern.test(code)).toBe(isBanned);
});

test("every operation that changes something tells its act who calls, so that the audit log can name them", () => {
  const silentOf = (code: string) =>
    code
      .split(/\badmin(?:Stream)?Route\(/)
      .slice(1)
      .filter(
        (route) =>
          /\baccess: "(?:operate|setting|installation)"/.test(route) &&
          !/\bby\b|\bdeskOf\(context, request\)/.test(route),
      )
      .map((route) => /\bpath: (.*),$/m.exec(route)?.[1]);
  const offence =
    'adminRoute(routes, {\n  path: "a",\n  access: "setting",\n  run: async ({ body }) => save(body),\n});';
  expect(silentOf(offence)).toEqual(['"a"']);
  const routes = src.filter(({ path }) => path.startsWith("src/http/admin/"));
  expect(routes.filter(({ code }) => code.includes('access: "setting"')).length).toBeGreaterThan(10);
  expect(routes.flatMap(({ path, code }) => silentOf(code).map((route) => `${path}: ${route}`))).toEqual([]);
});

test("no comment leaves something for later", () => {
  const pattern = /\bTO[D]O\b|\bFIX[M]E\b|\bXX[X]\b|\bHA[C]K\b/;
  expect(`// ${"TO"}${"DO"}: more`).toMatch(pattern);
  expect(all.flatMap(({ path, text }) => offencesIn(path, text, pattern))).toEqual([]);
});

test("a limit of several files stands in limits.ts, one of a single file beside its use", () => {
  const limits = src.find(({ path }) => path === "src/limits.ts")!.code;
  const shared = /^const SHARED = \{\n([\s\S]*?)\n\}/m.exec(limits)![1]!;
  const names = [...shared.matchAll(/^ {2}(\w+): /gm)].map(([, name]) => name!);
  expect(names.length).toBeGreaterThan(10);
  const usersOf = (name: string) => all.filter(({ code }) => new RegExp(`\\bLIMITS\\.${name}\\b`).test(code));
  expect(names.filter((name) => usersOf(name).length < 2)).toEqual([]);
});

test("a migration never asks the database for the time", () => {
  const migrations = filesUnder("migrations");
  expect(migrations.length).toBeGreaterThan(0);
  const found = migrations.flatMap((path) =>
    offencesIn(path, readFileSync(join(ROOT, path), "utf8"), /\bnow\(\)|\bcurrent_(?:timestamp|date)\b/i),
  );
  expect(found).toEqual([]);
});

test("a landed migration never changes, and a new one is listed with its checksum", () => {
  const migrations = filesUnder("migrations").map((path) => [
    path.replace("migrations/", ""),
    checksumOf(readFileSync(join(ROOT, path), "utf8")),
  ]);
  expect(LANDED_MIGRATIONS, "test/landed-migrations.ts: add the new line, restore an edited file").toEqual(
    Object.fromEntries(migrations),
  );
});

function offencesIn(path: string, code: string, pattern: RegExp): string[] {
  return code.split("\n").flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : []));
}

test("file and folder names are kebab-case nouns, and none is called index", () => {
  const badName = (path: string) =>
    path.split("/").some((part) => !/^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.test)?(?:\.[a-z]+)?$/.test(part)) ||
    /(?:^|\/)(?:index|utils?|helpers?|common|lib|misc|managers?|services?)(?:\.[a-z]+)*(?:\/|$)/.test(path);
  expect(["src/Bad.ts", "src/a_b.ts", "src/index.ts", "src/utils/a.ts", "src/helpers.ts"].filter(badName)).toHaveLength(
    5,
  );
  expect(all.map(({ path }) => path).filter(badName)).toEqual([]);
  expect(filesUnder("migrations").filter((path) => !/^migrations\/\d{4}-[a-z0-9-]+\.sql$/.test(path))).toEqual([]);
});

test(`no file has more than ${LINES_MAX} lines`, () => {
  const lines = all.map(({ path, text }) => ({ path, lines: text.trimEnd().split("\n").length }));
  expect(lines.filter((file) => file.lines > LINES_MAX)).toEqual([]);
});

test(`no function has more than ${FUNCTION_LINES_MAX} lines`, () => {
  const long = ["function long() {", ...Array<string>(FUNCTION_LINES_MAX).fill("  a();"), "}"].join("\n");
  expect(longFunctions({ path: "a.ts", text: long, code: long })).toEqual([`a.ts:1 ${FUNCTION_LINES_MAX + 2} lines`]);
  expect(all.flatMap(longFunctions)).toEqual([]);
});

/** The formatter closes a block at the indentation of the line that opened it, so counting lines needs no parser. */
const OPENS_FUNCTION =
  /^\s*(?!describe\b|(?:\} )?(?:if|for|while|switch|catch|else)\b).*(?:\bfunction\b.*\{|=> \{|^\s*\)(?:: .+)? \{|^\s+[\w# ]+\(.*\)(?:: .+)? \{)$/;

function longFunctions({ path, code }: Source): string[] {
  const lines = code.split("\n");
  return lines.flatMap((line, index) => {
    if (!OPENS_FUNCTION.test(line)) return [];
    const indent = /^\s*/.exec(line)![0];
    const length = lines.slice(index + 1).findIndex((next) => next.startsWith(`${indent}}`)) + 2;
    return length > FUNCTION_LINES_MAX ? [`${path}:${index + 1} ${length} lines`] : [];
  });
}

test("the README lists every setting with its default, and no setting that does not exist", () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const table = readme.split(/\n(?!\|)/).find((block) => /^\| *`PORT` *\|/m.test(block)) ?? "";
  const rows = new Map([...table.matchAll(/^\| *`(\w+)` *\|(.*)\|\s*$/gm)].map(([, name, row]) => [name, row!]));
  expect([...rows.keys()].sort()).toEqual(Object.keys(SETTINGS).sort());
  const withoutDefault = Object.entries(SETTINGS).filter(
    ([name, { fallback }]) => fallback !== "" && !rows.get(name)?.includes(fallback),
  );
  expect(withoutDefault.map(([name]) => name)).toEqual([]);
});

type LockedPackage = { version: string; integrity?: string; resolved?: string };

test("every file and folder named in the documents for engineers exists", () => {
  const named = ["docs/ARCHITECTURE.md", "CONTRIBUTING.md"].flatMap((document) =>
    [...readFileSync(join(ROOT, document), "utf8").matchAll(/`([a-z][\w./-]*\/[\w./-]*|[\w-]+\.(?:ts|md))`/g)].map(
      ([, path]) => path!,
    ),
  );
  expect(named.length).toBeGreaterThan(80);
  const isThere = (path: string) => ["", "src"].some((folder) => existsSync(join(ROOT, folder, path)));
  const isExample = (path: string) =>
    ["postback.ts", "cost.ts", "test-output/"].includes(path) || path.includes("NAME");
  expect(named.filter((path) => !isThere(path) && !isExample(path))).toEqual([]);
});

test("every package in the lockfile, the native ones of other systems included, has its integrity hash", () => {
  const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));
  const packages = Object.entries<LockedPackage>(lock.packages).filter(([path]) => path !== "");
  expect(packages.length).toBeGreaterThan(100);
  const unverified = packages.filter(([, { integrity = "" }]) => !/^sha512-[\w+/]{86}==$/.test(integrity));
  expect(unverified.map(([path, { version }]) => `${path} ${version}`)).toEqual([]);
  // The installer's registry decides where packages come from.
  expect(packages.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([]);
});

import { expect, test } from "vitest";
import { wholeProgram } from "../../src/cli/program.ts";
import { sharedServer } from "../support/shared-server.ts";
import { cli, cliProcess, expectFailure, expectWrongArguments } from "./run.ts";

const { dataDir } = sharedServer();

/** The names under "Commands:" of a help text, without `help` itself. */
function subcommandsOf(help: string): string[] {
  const [, list = ""] = /\nCommands:\n([\s\S]+?)(?:\n\n|$)/.exec(help) ?? [];
  return [...list.matchAll(/^ {2}([a-z-]+)\b/gm)].map(([, name]) => name!).filter((name) => name !== "help");
}

/** Every leaf command with its help. */
async function commandsUnder(path: string[]): Promise<{ command: string; help: string }[]> {
  const { code, stdout, stderr } = await cli(dataDir, [...path, "--help"]);
  expect({ path, code, stderr }).toEqual({ path, code: 0, stderr: "" });
  const names = subcommandsOf(stdout);
  if (names.length === 0) return [{ command: path.join(" "), help: stdout }];
  const found = await Promise.all(names.map((name) => commandsUnder([...path, name])));
  return found.flat();
}

test.each([
  { args: ["help", "app"], code: 0 },
  { args: ["account", "fields", "--platform", "kuaishou", "--json"], code: 0 },
  { args: ["app", "set", "99", "--name", "Nobody"], code: 1 },
  { args: ["settle", "--timeout-s", "soon"], code: 2 },
])("the executable ends $args with exit code $code and the same output as in this process", async ({ args, code }) => {
  const result = await cliProcess(dataDir, args);
  expect(result.code, result.stderr).toBe(code);
  expect(result).toEqual(await cli(dataDir, args));
});

test("--help of every command explains it and its options, and every command with an answer takes --json", async () => {
  const commands = await commandsUnder([]);
  const names = commands.map(({ command }) => command);
  expect(names).toEqual(
    expect.arrayContaining([
      ...["app create", "app list", "app set", "app rotate-token", "user show", "ledger", "settle"],
      ...["metadata list", "metadata event", "metadata property", "import", "export events"],
      ...["journal inspect", "journal replay"],
    ]),
  );
  for (const { command, help } of commands) {
    expect(help).toMatch(new RegExp(`^Usage: touchpoint ${command} `));
    const [, description = ""] = /^Usage:.*\n\n([^\n]+)/.exec(help) ?? [];
    expect(description.length, `the description of ${command}`).toBeGreaterThan(10);
  }
  // A server runs until it is stopped and has no answer to print; a script is read by its shell.
  const withoutJson = commands.filter(({ help }) => !help.includes("--json")).map(({ command }) => command);
  expect(withoutJson).toEqual(["serve", "completion"]);
});

test("the main help says the same as with all commands loaded, and a command's help is the same either way", async () => {
  const { stdout } = await cli(dataDir, ["--help"]);
  expect(subcommandsOf(stdout)).toEqual(
    expect.arrayContaining(["app", "ad-object", "why", "docs", "postback", "cost"]),
  );
  expect(stdout).toContain((await wholeProgram()).helpInformation());
  expect(await cli(dataDir, ["help", "app"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("rotate-token"),
  });
});

test.each([
  [["frobnicate"], /frobnicate/],
  [["expot"], /Did you mean export\?/],
  [["app"], /create/],
  [["app", "create"], /--name/],
  [["app", "create", "--name", "x", "--time-zone", "Nowhere"], /time zone/],
  [["app", "set", "ten"], /whole number/],
  [["user", "show", "--app", "1"], /client/],
  [["ledger", "--app", "1", "--from", "2024-02-30"], /day/],
  [["import", "--app", "1"], /file/],
  [["export", "events", "--app", "1", "--from", "2024-01-01"], /--to/],
  [["export", "events", "--app", "1", "--from", "yesterday", "--to", "2024-01-01"], /day/],
  [["journal", "inspect", "--entries", "some"], /whole number/],
  [["journal", "replay", "--everything"], /--everything/],
  [["settle", "--timeout-s", "-1"], /whole number/],
  [["settle", "now"], /argument/],
])("wrong arguments %j end with exit code 2 and say what is wrong", async (args, words) => {
  expectWrongArguments(await cli(dataDir, args), words);
});

test("bad settings fail a command as they fail the server: all named at once, without a stack trace", async () => {
  const result = await cli(dataDir, ["app", "list"], { LOG_LEVEL: "loud", JOURNAL_KEEP_DAYS: "x" });
  expect(result).toMatchObject({ code: 1, stdout: "" });
  expect(result.stderr).toMatch(/LOG_LEVEL[\s\S]*JOURNAL_KEEP_DAYS/);
  expect(result.stderr).not.toMatch(/ {4}at /);
});

test("a folder that cannot be created fails a command with one sentence", async () => {
  expectFailure(await cli("/dev/null/data", ["app", "list"]), /\/dev\/null\/data/);
});

import { execFileSync } from "node:child_process";
import { beforeAll, describe, expect, test } from "vitest";
import { bashCompletion } from "../../src/cli/completion/bash.ts";
import { commandTree, type TreeCommand } from "../../src/cli/completion/command-tree.ts";
import { fishCompletion } from "../../src/cli/completion/fish.ts";
import { zshCompletion } from "../../src/cli/completion/zsh.ts";
import { wholeProgram } from "../../src/cli/program.ts";
import { cli, expectWrongArguments } from "./run.ts";

const NOWHERE = "/dev/null/data";

let tree: TreeCommand[];
let bash: string;
beforeAll(async () => {
  tree = commandTree(await wholeProgram());
  bash = bashCompletion("touchpoint", tree);
});

/** What bash offers after these words, the last of which is being typed. */
function offered(...words: string[]): string[] {
  const asked = `${bash}
    COMP_WORDS=(touchpoint "$@"); COMP_CWORD=$#; _touchpoint; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const text = execFileSync("bash", ["-c", asked, "bash", ...words], { encoding: "utf8", cwd: import.meta.dirname });
  return text.split("\n").filter((word) => word !== "");
}

test.each([
  { words: ["ap"], found: ["app"] },
  { words: ["--v"], found: ["--version"] },
  { words: ["app", "r"], found: ["rotate-token"] },
  { words: ["app", "create", "--t"], found: ["--time-zone"] },
  { words: ["app", "create", "--metadata", ""], found: ["open", "strict"] },
  { words: ["app", "create", "--metadata", "s"], found: ["strict"] },
  { words: ["app", "create", "--metadata", "=", "o"], found: ["open"] },
  { words: ["app", "create", "--name", ""], found: [] },
  { words: ["postback", "rule", "a"], found: ["add"] },
  { words: ["export", "events", "--app", "7", "--format", ""], found: ["ndjson", "csv"] },
  { words: ["completion", "z"], found: ["zsh"] },
  { words: ["help", "setti"], found: [] },
  { words: ["help", "sett"], found: ["settle"] },
  { words: ["import", "completion"], found: ["completion.test.ts"] },
  { words: ["import", "x", "--errors", "completion"], found: ["completion.test.ts"] },
])("bash completes $words with $found", ({ words, found }) => {
  expect(offered(...words)).toEqual(found);
});

test("bash offers every command and every long option of the program", () => {
  const leaves = tree.filter(({ commands, path }) => commands.length === 0 && !path.endsWith("help"));
  expect(leaves.length).toBeGreaterThan(50);
  for (const { path, options } of leaves.filter((_, index) => index % 7 === 0)) {
    const flags = options.flatMap((option) => option.flags.filter((flag) => flag.startsWith("--")));
    expect(offered(...path.split(" "), "--"), path).toEqual(flags);
  }
  expect(offered("")).toEqual(expect.arrayContaining(tree[0]!.commands.map(({ name }) => name)));
});

describe.each([
  { shell: "zsh", script: zshCompletion },
  { shell: "fish", script: fishCompletion },
] as const)("the script for $shell", ({ shell, script }) => {
  test("names every command and option, and the choices of values", () => {
    const text = script("touchpoint", tree);
    for (const { path, commands, options } of tree) {
      expect(text).toContain(`'${path}'`);
      for (const { name } of commands) expect(text).toContain(shell === "zsh" ? `'${name}:` : `-a '${name}'`);
      for (const flag of options.flatMap(({ flags }) => flags).filter((one) => one.startsWith("--")))
        expect(text).toContain(shell === "zsh" ? `'${flag}:` : `-l ${flag.slice(2)} `);
    }
    expect(text).toContain(shell === "zsh" ? "compadd -- 'open' 'strict'" : "-l metadata -r -f -a 'open strict'");
  });

  test("leaves no quote open, whatever a description says", () => {
    const nasty: TreeCommand = {
      path: "it's",
      description: "",
      commands: [{ name: "a:b", description: 'the store\'s \\ "cut": $HOME `x`' }],
      options: [],
      values: [],
    };
    const text = script("touchpoint", [nasty]);
    expect(text).toContain(
      shell === "zsh"
        ? `'a\\:b:the store'\\''s \\ "cut": $HOME \`x\`'`
        : `-a 'a:b' -d 'the store\\'s \\\\ "cut": $HOME \`x\`'`,
    );
  });
});

test("completion prints the script of each shell, without a server, and shows how to switch it on", async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, stdout, stderr } = await cli(NOWHERE, ["completion", shell]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(`Made by: touchpoint completion ${shell}`);
  }
  expect((await cli(NOWHERE, ["completion", "--help"])).stdout).toContain("source <(touchpoint completion bash)");
  expectWrongArguments(await cli(NOWHERE, ["completion", "tcsh"]), /bash, zsh, fish/);
});

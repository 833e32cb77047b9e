import type { Command, Option } from "commander";

/** What a shell can complete: a value of a list, a file, or anything. */
export type Value = { kind: "choice"; choices: readonly string[] } | { kind: "file" } | { kind: "any" };

export type TreeOption = { flags: readonly string[]; description: string; value: Value | undefined };

/** A command by its words, for example "app create"; the program itself is "". */
export type TreeCommand = {
  path: string;
  description: string;
  commands: readonly { name: string; description: string }[];
  options: readonly TreeOption[];
  /** The values of its arguments, in order. */
  values: readonly Value[];
};

/** Every command of a program, the program first. It is read from the program itself, so it lacks nothing. */
export function commandTree(program: Command, path = ""): TreeCommand[] {
  const commands = [...program.commands];
  const options = program.options.filter(({ hidden }) => !hidden).map(treeOption);
  const helps = commands.length > 0 ? [{ name: "help", description: "display help for command" }] : [];
  const own: TreeCommand = {
    path,
    description: program.description(),
    commands: [...commands.map((command) => ({ name: command.name(), description: command.description() })), ...helps],
    options: [...options, { flags: ["-h", "--help"], description: "display help for command", value: undefined }],
    values: program.registeredArguments.map((argument) => valueNamed(argument.name(), argument.argChoices)),
  };
  const help: TreeCommand = {
    path: join(path, "help"),
    description: "display help for command",
    commands: own.commands.filter(({ name }) => name !== "help"),
    options: [],
    values: [],
  };
  const below = commands.flatMap((command) => commandTree(command, join(path, command.name())));
  return [own, ...below, ...(commands.length > 0 ? [help] : [])];
}

function treeOption({ short, long, flags, description, required, optional, argChoices }: Option): TreeOption {
  const [, name = ""] = /[<[]([^>\]]+)[>\]]/.exec(flags) ?? [];
  return {
    flags: [short, long].filter((flag) => flag !== undefined),
    description,
    value: required || optional ? valueNamed(name, argChoices) : undefined,
  };
}

function valueNamed(name: string, choices: readonly string[] | undefined): Value {
  if (choices) return { kind: "choice", choices };
  return name.replace("...", "") === "file" ? { kind: "file" } : { kind: "any" };
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path} ${name}`;
}

/** A text as one word of a shell, in single quotes. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

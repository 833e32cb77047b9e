import type { TreeCommand, TreeOption, Value } from "./command-tree.ts";

/** Completion for fish. */
export function fishCompletion(name: string, tree: readonly TreeCommand[]): string {
  const paths = tree.flatMap(({ path }) => (path === "" ? [] : [fishQuoted(path)]));
  return `# Completion of ${name} for fish. Made by: ${name} completion fish
set -g __${name}_paths ${paths.join(" ")}
function __${name}_at
    set -l at
    for word in (commandline -opc)[2..-1]
        set -l next (string trim -- "$at $word")
        contains -- $next $__${name}_paths; and set at $next
    end
    test "$at" = "$argv[1]"
end
complete -c ${name} -f
${tree.flatMap((command) => linesOf(name, command)).join("\n")}
`;
}

function linesOf(name: string, { path, commands, options, values }: TreeCommand): string[] {
  const at = `complete -c ${name} -n ${fishQuoted(`__${name}_at ${fishQuoted(path)}`)}`;
  return [
    ...commands.map((command) => `${at} -a ${fishQuoted(command.name)} -d ${fishQuoted(command.description)}`),
    ...values.flatMap((value) => (value.kind === "any" ? [] : [`${at} ${wordsOf(value)}`])),
    ...options.map((option) => `${at}${flagsOf(option)} -d ${fishQuoted(option.description)}`),
  ];
}

function flagsOf({ flags, value }: TreeOption): string {
  const names = flags.map((flag) => (flag.startsWith("--") ? ` -l ${flag.slice(2)}` : ` -s ${flag.slice(1)}`)).join("");
  if (!value) return names;
  return `${names} -r ${value.kind === "any" ? "-f" : wordsOf(value)}`;
}

function wordsOf(value: Exclude<Value, { kind: "any" }>): string {
  return value.kind === "file" ? "-F" : `-f -a ${fishQuoted(value.choices.join(" "))}`;
}

/** In fish, single quotes end only at a quote, and a backslash escapes both. */
function fishQuoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

import { quoted, type TreeCommand, type Value } from "./command-tree.ts";

/** Completion for bash, also for the version 3.2 of macOS. It needs no other package. */
export function bashCompletion(name: string, tree: readonly TreeCommand[]): string {
  return `# Completion of ${name} for bash. Made by: ${name} completion bash
_${name}() {
  local word=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} at="" words="" file="" next i
  # bash takes --option=value apart.
  if [[ $word == "=" ]]; then word=""
  elif [[ $previous == "=" ]]; then previous=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="\${at:+$at }\${COMP_WORDS[i]}"
    case $next in
      ${pathsOf(tree)}) at=$next ;;
    esac
  done
  case "$at $previous" in
${tree.flatMap(optionCases).join("\n")}
  esac
  case $at in
${tree.map(commandCase).join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if [[ -n $file && $word != -* ]]; then COMPREPLY+=($(compgen -f -- "$word")); fi
}
complete -o filenames -F _${name} ${name}
`;
}

function pathsOf(tree: readonly TreeCommand[]): string {
  return tree.flatMap(({ path }) => (path === "" ? [] : [quoted(path)])).join(" | ");
}

/** Words after an option that takes a value. */
function optionCases({ path, options }: TreeCommand): string[] {
  return options.flatMap(({ flags, value }) => {
    if (!value) return [];
    const words = flags.map((flag) => quoted(`${path} ${flag}`)).join(" | ");
    return [`    ${words}) ${valueWords(value)}; return ;;`];
  });
}

function valueWords(value: Value): string {
  switch (value.kind) {
    case "choice":
      return `COMPREPLY=($(compgen -W ${quoted(value.choices.join(" "))} -- "$word"))`;
    case "file":
      return `COMPREPLY=($(compgen -f -- "$word"))`;
    case "any":
      return "COMPREPLY=()";
  }
}

function commandCase({ path, commands, options, values }: TreeCommand): string {
  const choices = values.flatMap((value) => (value.kind === "choice" ? value.choices : []));
  const flags = options.flatMap((option) => option.flags.filter((flag) => flag.startsWith("--")));
  const words = [...commands.map(({ name }) => name), ...choices, ...flags].join(" ");
  const file = values.some(({ kind }) => kind === "file") ? " file=yes" : "";
  return `    ${quoted(path)}) words=${quoted(words)}${file} ;;`;
}

import { quoted, type TreeCommand, type Value } from "./command-tree.ts";

/** Completion for zsh: read at its start, or as the file _NAME in a folder of fpath. */
export function zshCompletion(name: string, tree: readonly TreeCommand[]): string {
  return `#compdef ${name}
# Completion of ${name} for zsh. Made by: ${name} completion zsh
_${name}() {
  local at="" next i takes_file=""
  local -a found options
  for ((i = 2; i < CURRENT; i++)); do
    next="\${at:+$at }\${words[i]}"
    case $next in
      (${pathsOf(tree)}) at=$next ;;
    esac
  done
  case "$at \${words[CURRENT-1]}" in
${tree.flatMap(optionCases).join("\n")}
  esac
  case $at in
${tree.map(commandCase).join("\n")}
  esac
  if [[ \${words[CURRENT]} == -* ]]; then
    _describe option options
  else
    (( \${#found} )) && _describe command found
    [[ -n $takes_file ]] && _files
  fi
}
if [[ \${funcstack[1]} == _${name} ]]; then _${name} "$@"; else compdef _${name} ${name}; fi
`;
}

function pathsOf(tree: readonly TreeCommand[]): string {
  return tree.flatMap(({ path }) => (path === "" ? [] : [quoted(path)])).join("|");
}

function optionCases({ path, options }: TreeCommand): string[] {
  return options.flatMap(({ flags, value }) => {
    if (!value) return [];
    return [`    (${flags.map((flag) => quoted(`${path} ${flag}`)).join("|")}) ${valueWords(value)}; return ;;`];
  });
}

function valueWords(value: Value): string {
  switch (value.kind) {
    case "choice":
      return `compadd -- ${value.choices.map(quoted).join(" ")}`;
    case "file":
      return "_files";
    case "any":
      return ":";
  }
}

function commandCase({ path, commands, options, values }: TreeCommand): string {
  const choices = values.flatMap((value) => (value.kind === "choice" ? value.choices : []));
  const found = [...commands.map(({ name, description }) => described(name, description)), ...choices.map(quoted)];
  const flags = options.flatMap(({ flags, description }) =>
    flags.filter((flag) => flag.startsWith("--")).map((flag) => described(flag, description)),
  );
  const file = values.some(({ kind }) => kind === "file") ? " takes_file=yes" : "";
  return `    (${quoted(path)}) found=(${found.join(" ")}) options=(${flags.join(" ")})${file} ;;`;
}

/** A word with its description; the first colon separates them. */
function described(word: string, description: string): string {
  return quoted(`${word.replaceAll(":", "\\:")}:${description}`);
}

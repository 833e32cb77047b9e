import { Argument, type Command } from "commander";
import { bashCompletion } from "./bash.ts";
import { commandTree } from "./command-tree.ts";
import { fishCompletion } from "./fish.ts";
import { zshCompletion } from "./zsh.ts";

const SCRIPTS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };
type Shell = keyof typeof SCRIPTS;

const INSTALL = `
To switch it on, add one line to the file that your shell reads at its start:
  ~/.bashrc                    source <(touchpoint completion bash)
  ~/.zshrc, after compinit     source <(touchpoint completion zsh)
  ~/.config/fish/config.fish   touchpoint completion fish | source`;

export function completionCommand(program: Command, whole: () => Promise<Command>): void {
  program
    .command("completion")
    .description("Print a script with which a shell completes commands, options and their values")
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(SCRIPTS)))
    .addHelpText("after", INSTALL)
    .action(async (shell: Shell) => {
      process.stdout.write(SCRIPTS[shell](program.name(), commandTree(await whole())));
    });
}

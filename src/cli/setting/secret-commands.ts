import { type Command, InvalidArgumentError } from "commander";
import { rotateKey } from "../../admin/session/key-rotation.ts";
import { configFromEnvironment } from "../../config.ts";
import { UsageError } from "../../errors.ts";
import { keyFileOf } from "../../vault.ts";
import { deskOf } from "../desk.ts";
import { print } from "../output.ts";
import { readSecretOption } from "../secret-option.ts";
import { withOwnDatabase } from "../session.ts";

type RotateOptions = { newKey?: string; json?: boolean };

export function secretCommands(program: Command): void {
  const secret = program.command("secret").description("The key that encrypts every secret in the database");

  secret
    .command("rotate")
    .description("Replace the key and re-encrypt every secret, all or nothing (the server must be stopped)")
    .option(
      "--new-key <key>",
      "64 hex digits, as @file or - for standard input; needed when SECRET_KEY is set",
      parseKey,
    )
    .option("--json", "print JSON")
    .action((options: RotateOptions) => rotate(options));
}

async function rotate(options: RotateOptions): Promise<void> {
  const config = configFromEnvironment();
  if (config.secretKey !== "" && options.newKey === undefined) {
    throw new UsageError(
      "SECRET_KEY is set: make the new key yourself (`openssl rand -hex 32`), keep it safe, and pass it with --new-key @file.",
    );
  }
  await withOwnDatabase(config, async (session) => {
    const secrets = await rotateKey(deskOf(session), { location: config, key: options.newKey });
    const keyHolder = config.secretKey === "" ? keyFileOf(config) : "SECRET_KEY";
    print({ secrets, key: keyHolder }, options, () => toldOf(secrets, keyHolder));
  });
}

function toldOf(secrets: number, keyHolder: string): string {
  const next =
    keyHolder === "SECRET_KEY"
      ? "Set SECRET_KEY to the new key wherever this installation runs, before you start it."
      : `The new key is in ${keyHolder}. Back it up, and copy it to the other machines of this installation.`;
  return `${secrets} secrets were re-encrypted. ${next}\nEarlier backups need the old key. \`admin token\` prints the new admin token.`;
}

function parseKey(text: string): string {
  const key = readSecretOption(text).trim().toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(key)) throw new InvalidArgumentError("It must be 64 hex digits.");
  return key;
}

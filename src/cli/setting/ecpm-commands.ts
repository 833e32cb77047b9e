import { type Command, InvalidArgumentError } from "commander";
import { dropEcpm, setEcpm } from "../../admin/setting/ecpms.ts";
import { loadEcpms } from "../../db/ad-ecpm.ts";
import { shownEcpm } from "../../domain/ad-revenue.ts";
import { deskOf } from "../desk.ts";
import { addListCommand } from "../list-command.ts";
import { listOf, parseInteger, print } from "../output.ts";
import { withDatabase } from "../session.ts";

type Json = { json?: boolean };
type KeyOptions = { app: number; unit: string; from: string } & Json;
type SetOptions = KeyOptions & { to?: string; ecpm: number };

/** What ad units are estimated to earn. */
export function ecpmCommands(program: Command): void {
  const ecpm = program
    .command("ecpm")
    .description("eCPMs of ad units, for ads whose clients do not know what they earn");

  addListCommand(ecpm, {
    description: "List the eCPMs of an app's ad units",
    load: async ({ pool }, appId) => (await loadEcpms(pool, appId)).map(shownEcpm),
  });

  withKey(ecpm.command("set").description("Set what an ad unit earns in a period"))
    .requiredOption("--ecpm <amount>", "what 1,000 shown ads earn, in major units, such as 35.5", parseAmount)
    .option("--to <day>", "last day, included; without it, the period has no end")
    .action((options: SetOptions) =>
      withDatabase(async (session) => {
        const { to: end_date, ecpm: amount } = options;
        const set = await setEcpm(deskOf(session), { ...keyOf(options), end_date, ecpm: amount });
        print(set, options, () => listOf(set));
      }),
    );

  withKey(ecpm.command("remove").description("Remove an eCPM")).action((options: KeyOptions) =>
    withDatabase(async (session) => {
      await dropEcpm(deskOf(session), keyOf(options));
      print({}, options, () => "The eCPM was removed.");
    }),
  );
}

function withKey(command: Command): Command {
  return command
    .requiredOption("--app <app>", "app id", parseInteger)
    .requiredOption("--unit <id>", "the ad unit, as $ad_unit_id names it")
    .requiredOption("--from <day>", "first day, such as 2026-11-01")
    .option("--json", "print JSON");
}

function keyOf({ app: app_id, unit: ad_unit_id, from: start_date }: KeyOptions) {
  return { app_id, ad_unit_id, start_date };
}

function parseAmount(text: string): number {
  if (!/^\d{1,9}(\.\d+)?$/.test(text)) throw new InvalidArgumentError("It must be an amount such as 35.5.");
  return Number(text);
}

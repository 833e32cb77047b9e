import { type Command, InvalidArgumentError, Option } from "commander";
import { addCampaign, editCampaign, noCampaign } from "../../admin/setting/campaigns.ts";
import { CAMPAIGN_ID_LENGTH, type Campaign, loadCampaign, loadCampaigns } from "../../db/campaign.ts";
import { OPERATING_SYSTEMS } from "../../domain/user/operating-system.ts";
import { UsageError } from "../../errors.ts";
import { type CampaignLink, campaignLinks, shownCampaign } from "../../platform/campaign-link.ts";
import { deskOf } from "../desk.ts";
import { addListCommand } from "../list-command.ts";
import { listOf, parseInteger, print } from "../output.ts";
import { parsePlatform } from "../platform-option.ts";
import { type DatabaseSession, findApp, withDatabase } from "../session.ts";

type Json = { json?: boolean };
type Fields = {
  name?: string;
  platform?: string;
  channel?: string;
  os?: string;
  operator?: string;
  dept?: string;
};

export function campaignCommands(program: Command): void {
  const campaign = program.command("campaign").description("Promotion campaigns and their monitoring links");

  createCommand(campaign);

  addListCommand(campaign, {
    description: "List the campaigns of an app",
    load: async ({ pool }, appId) => (await loadCampaigns(pool, appId)).map(shownCampaign),
  });

  withFields(campaign.command("set").description("Change a campaign"))
    .argument("<id>", "turbo_promoted_object_id")
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--json", "print JSON")
    .action((id: string, options: { app: number } & Fields & Json) =>
      withDatabase(async (session) => {
        const body = { app_id: options.app, turbo_promoted_object_id: id, ...fieldsOf(options) };
        const changed = shownCampaign(await editCampaign(deskOf(session), body));
        print(changed, options, () => listOf(changed));
      }),
    );

  linkCommand(campaign);
}

function createCommand(campaign: Command): void {
  withFields(campaign.command("create").description("Create a campaign; prints its id"))
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--id <id>", "16 characters of your own; without it, one is generated", parseId)
    .option("--json", "print JSON")
    .action((options: { app: number; id?: string } & Fields & Json) =>
      withDatabase(async (session) => {
        const body = { app_id: options.app, turbo_promoted_object_id: options.id, ...fieldsOf(options) };
        const made = shownCampaign(await addCampaign(deskOf(session), body));
        print(made, options, () => listOf(made));
      }),
    );
}

function linkCommand(campaign: Command): void {
  campaign
    .command("link")
    .description("Print the monitoring links to enter at the ad platform, with its macros")
    .argument("<id>", "turbo_promoted_object_id")
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--platform <name>", "instead of the campaign's own platform; `all` for every platform", parsePlatformOrAll)
    .option("--base-url <url>", "the public address of this server", parseUrl, "https://your.domain")
    .option(
      "--macro <parameter=macro>",
      "another macro for a parameter, if the platform has changed it",
      parseMacro,
      {},
    )
    .option("--json", "print JSON")
    .action((id: string, options: LinkOptions) =>
      withDatabase(async (session) => {
        const links = campaignLinks(await findCampaign(session, options.app, id), {
          baseUrl: options.baseUrl,
          macros: options.macro,
          ...(options.platform !== undefined && { platform: options.platform }),
        });
        if (links.length === 0) {
          throw new UsageError("The campaign names no platform that calls links; choose one with --platform.");
        }
        print(links, options, () => links.map(tellLink).join("\n"));
      }),
    );
}

function tellLink({ ad_platform, kind, url, macros }: CampaignLink): string {
  const likely = macros.filter(({ certainty }) => certainty === "likely").map(({ macro }) => macro);
  const note = likely.length === 0 ? "" : `Likely, to be checked when the first calls arrive: ${likely.join(" ")}\n`;
  return `${ad_platform} ${kind}\n${url}\n${note}`;
}

type LinkOptions = { app: number; platform?: string; baseUrl: string; macro: Record<string, string> } & Json;

function withFields(command: Command): Command {
  return command
    .option("--name <name>", "display name")
    .option("--platform <name>", "ad platform", parsePlatform)
    .option("--channel <channel>", "channel of its links and costs")
    .addOption(new Option("--os <os>", "device type of its costs").choices([...OPERATING_SYSTEMS, ""]))
    .option("--operator <name>", "optimiser")
    .option("--dept <name>", "department");
}

function fieldsOf({ name, platform: ad_platform, channel, os: os_platform, operator, dept }: Fields) {
  return { name, ad_platform, channel, os_platform, operator, dept };
}

async function findCampaign(session: DatabaseSession, appId: number, id: string): Promise<Campaign> {
  await findApp(session, appId);
  const key = { appId, campaignId: id };
  const campaign = await loadCampaign(session.pool, key);
  if (!campaign) throw noCampaign(key);
  return campaign;
}

function parseId(text: string): string {
  if (!new RegExp(`^[A-Za-z0-9_-]{${CAMPAIGN_ID_LENGTH}}$`).test(text)) {
    throw new InvalidArgumentError(`It must be ${CAMPAIGN_ID_LENGTH} letters and digits.`);
  }
  return text;
}

function parsePlatformOrAll(text: string): string {
  return text === "all" ? text : parsePlatform(text);
}

function parseUrl(text: string): string {
  if (!/^https?:\/\/[^?#]+$/.test(text))
    throw new InvalidArgumentError("It must be an address such as https://track.example.com.");
  return text.replace(/\/+$/, "");
}

function parseMacro(text: string, macros: Record<string, string>): Record<string, string> {
  const match = /^([a-z][a-z0-9_]*)=([^&\s#]+)$/.exec(text);
  if (!match) throw new InvalidArgumentError("It must look like oaid=__OAID2__.");
  return { ...macros, [match[1]!]: match[2]! };
}

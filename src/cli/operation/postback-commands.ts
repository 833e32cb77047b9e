import { type Command, Option } from "commander";
import { resend } from "../../admin/operation/postbacks.ts";
import { systemClock } from "../../clock.ts";
import { POSTBACK_STATUS, POSTBACK_STATUS_LIST, POSTBACK_STATUS_NAMES } from "../../domain/postback/postback.ts";
import { readList } from "../../domain/postback/postback-request.ts";
import { type ShownPostback, showPostbacks, showState } from "../../postback/outbox-view.ts";
import type { Resent } from "../../postback/resend.ts";
import { deskOf } from "../desk.ts";
import { parseDay, parseInteger, print, tableOf } from "../output.ts";
import { parsePlatform } from "../platform-option.ts";
import { findApp, withDatabase } from "../session.ts";
import { dryRunCommand, postbackRuleCommands } from "../setting/postback-rule-commands.ts";
import { testCommand } from "./postback-test-command.ts";

type Json = { json?: boolean };
type AppOption = { app: number } & Json;
type Texts = { status?: string; platform?: string; eventType?: string; client?: string };

/** Postbacks to ad platforms. */
export function postbackCommands(program: Command): void {
  const postback = program.command("postback").description("Postbacks: conversions reported to ad platforms");
  postbackRuleCommands(postback);
  dryRunCommand(postback);
  listCommand(postback);
  statusCommand(postback);
  resendCommand(postback);
  testCommand(postback);
}

function listCommand(postback: Command): void {
  postback
    .command("list")
    .description("List the postbacks of an app, newest first, with status and reason")
    .requiredOption("--app <app>", "app id", parseInteger)
    .addOption(
      new Option("--status <status>", POSTBACK_STATUS_LIST).choices(Object.values(POSTBACK_STATUS).map(String)),
    )
    .option("--platform <name>", "only postbacks to this platform", parsePlatform)
    .option("--event-type <type>", "only this event type; $attribution and $event are the app's own callbacks")
    .option("--client <client>", "only postbacks of this client")
    .option("--limit <n>", "most postbacks to list (50)")
    .option("--json", "print JSON")
    .action((options: AppOption & Texts & { limit?: string }) =>
      withDatabase(async (session) => {
        const app = await findApp(session, options.app);
        const { status, platform: ad_platform, eventType: event_type, client: client_id, limit } = options;
        const wish = readList({ status, ad_platform, event_type, client_id, limit });
        const { postbacks } = await showPostbacks(session.pool, app, wish);
        print(postbacks, options, () => tableOf(postbacks.map(rowOf)));
      }),
    );
}

function rowOf(row: ShownPostback): Record<string, unknown> {
  const { client_id, event_type, subject, trace_id, ad_platform, status, reason, attempts } = row;
  const { value_cents, back_cents, refunded_cents, at } = row;
  const about = subject === trace_id ? "" : subject;
  return {
    at,
    client_id,
    event_type,
    subject: about,
    order: trace_id,
    ad_platform,
    status: POSTBACK_STATUS_NAMES[status],
    reason,
    attempts,
    value_cents,
    told_cents: back_cents,
    refunded_cents,
  };
}

function statusCommand(postback: Command): void {
  postback
    .command("status")
    .description("Show what waits to be sent, by account and callback, and the last error of each account")
    .option("--app <app>", "only this app", parseInteger)
    .option("--json", "print JSON")
    .action((options: { app?: number } & Json) =>
      withDatabase(async (session) => {
        if (options.app !== undefined) await findApp(session, options.app);
        const state = await showState(session.pool, session.vault, { appId: options.app, nowMs: systemClock() });
        print(state, options, () => `Waiting\n${tableOf(state.lanes)}\n\nAccounts\n${tableOf(state.accounts)}`);
      }),
    );
}

type ResendOptions = AppOption &
  Omit<Texts, "status"> & { status?: number; order?: string; reason?: string; from?: string; to?: string };

function resendCommand(postback: Command): void {
  postback
    .command("resend")
    .description(
      "Send failed or skipped postbacks again: those of a client, or all with a status. Accepted ones are never sent again",
    )
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--client <client>", "postbacks of this client")
    .option("--event-type <type>", "with --client: only this event type")
    .option("--order <id>", "with --client: only of this order")
    .option("--status <status>", "2: all that failed, 3: all that were skipped", parseInteger)
    .option("--reason <text>", "with --status: only with this reason; part of a sentence is enough")
    .option("--platform <name>", "with --status: only to this platform", parsePlatform)
    .option("--from <day>", "with --status: happened on this local day or later", parseDay)
    .option("--to <day>", "with --status: happened on this local day or earlier", parseDay)
    .option("--json", "print JSON")
    .action((options: ResendOptions) =>
      withDatabase(async (session) => {
        const { app: app_id, client: client_id, eventType: event_type, order: trace_id } = options;
        const { status, reason, platform: ad_platform, from, to } = options;
        const body = { app_id, client_id, event_type, trace_id, status, reason, ad_platform, from, to };
        const resent = await resend(deskOf(session), body);
        print(resent, options, () => tellResent(resent));
      }),
    );
}

function tellResent({ taken, refused, has_more }: Resent): string {
  const reasons = Object.entries(refused).map(([reason, count]) => `${reason} ${count}`);
  return [
    `${taken} postbacks will be sent again.`,
    ...(reasons.length > 0 ? [`Refused: ${reasons.join(", ")}.`] : []),
    ...(has_more ? ["There are more: repeat the command for the rest."] : []),
  ].join("\n");
}

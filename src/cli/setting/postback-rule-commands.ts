import type { Command } from "commander";
import { addRule, changeRule, dropRule, orderRules } from "../../admin/setting/postback-rules.ts";
import { readDays } from "../../domain/postback/postback-request.ts";
import { type GivenRule, POSTBACK_RULE_FIELDS } from "../../domain/postback/postback-rule-fields.ts";
import { withColdReader } from "../../lake/cold-reader.ts";
import { type DryRun, dryRun } from "../../postback/dry-run.ts";
import { listRules, type ShownRule, shownRule, triedRule } from "../../postback/rules.ts";
import { deskOf } from "../desk.ts";
import { listOf, ProgressBar, parseDay, parseInteger, parseIntegers, print, tableOf } from "../output.ts";
import { findApp, withDatabase } from "../session.ts";

type AppOption = { app: number; json?: boolean };
type RuleOptions = Record<string, unknown>;

export function postbackRuleCommands(postback: Command): void {
  const rule = postback.command("rule").description("Rules: which conversions are reported to which platform");

  rule
    .command("list")
    .description("List the rules of an app")
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--json", "print JSON")
    .action((options: AppOption) =>
      withDatabase(async (session) => {
        const { appId } = await findApp(session, options.app);
        const rules = await listRules(session.pool, appId);
        print(rules, options, () => tableOf(rules.map(rowOf)));
      }),
    );

  withRuleOptions(rule.command("add").description("Add a rule; needs --moment and --event-type"))
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--json", "print JSON")
    .action((options: AppOption & RuleOptions) =>
      withDatabase(async (session) => {
        const made = await addRule(deskOf(session), { app_id: options.app, ...givenRule(options) });
        print(made, options, () => listOf(made));
      }),
    );

  withRuleOptions(
    rule.command("set").description("Change the named parts of a rule; an empty text removes a condition"),
  )
    .argument("<rule>", "id of the rule", parseInteger)
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--enabled", "use the rule again")
    .option("--json", "print JSON")
    .action((ruleId: number, options: AppOption & RuleOptions) =>
      withDatabase(async (session) => {
        const body = { app_id: options.app, rule_id: ruleId, ...givenRule(options) };
        const changed = await changeRule(deskOf(session), body);
        print(changed, options, () => listOf(changed));
      }),
    );

  rule
    .command("remove")
    .description("Remove a rule; postbacks already sent by it stay as they are")
    .argument("<rule>", "id of the rule", parseInteger)
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--json", "print JSON")
    .action((ruleId: number, options: AppOption) =>
      withDatabase(async (session) => {
        await dropRule(deskOf(session), { app_id: options.app, rule_id: ruleId });
        print({ rule_id: ruleId }, options, () => `Rule ${ruleId} was removed.`);
      }),
    );

  rule
    .command("order")
    .description("Put all rules of the app in order: among rules for the same conversion, the first match counts")
    .argument("<rules>", "ids of the rules, separated by commas", parseIntegers)
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--json", "print JSON")
    .action((ruleIds: number[], options: AppOption) =>
      withDatabase(async (session) => {
        const rules = await orderRules(deskOf(session), { app_id: options.app, rule_ids: ruleIds });
        print(rules, options, () => tableOf(rules.map(rowOf)));
      }),
    );
}

export function dryRunCommand(postback: Command): void {
  const command = postback
    .command("dry-run")
    .description(
      "Try a rule on past data, without sending or storing anything. The rule is judged alone, as if it had always existed. Every platform that takes postbacks counts as having an account; whether it knows the event type shows only on sending",
    )
    .requiredOption("--app <app>", "app id", parseInteger)
    .requiredOption("--from <day>", "first local day", parseDay)
    .requiredOption("--to <day>", "last local day", parseDay)
    .option("--rule <id>", "this rule, with the other given parts changed; without it, a new rule", parseInteger)
    .option("--json", "print JSON");
  withRuleOptions(command).action((options: AppOption & RuleOptions & DryRunOptions) =>
    withDatabase(async (session) => {
      const app = await findApp(session, options.app);
      const { from, to } = options;
      const days = readDays({ from, to });
      const rule = await triedRule(session.pool, app.appId, { ruleId: options.rule, given: givenRule(options) });
      const bar = new ProgressBar("judged");
      const progress = (done: number, total: number) => bar.show(done, total);
      const result = await withColdReader(session.config, (cold) =>
        dryRun(session.pool, app, rule, { days, progress, cold }),
      );
      print({ rule: shownRule(rule), from, to, ...result }, options, () => tellDryRun(result));
    }),
  );
}

type DryRunOptions = { rule?: number; from: string; to: string };

function tellDryRun({ users, sent, amount_cents, skipped, platforms }: DryRun): string {
  const rows = platforms.map(({ reasons, ...row }) => ({
    ...row,
    reasons: Object.entries(reasons)
      .map(([reason, count]) => `${reason} ${count}`)
      .join(", "),
  }));
  const sum = `${users} users: ${sent} postbacks with ${amount_cents} cents would have been sent, ${skipped} skipped.`;
  return `${tableOf(rows)}\n\n${sum}`;
}

/** Two fields have shorter names here, as everywhere on the command line. */
const SHORT: Readonly<Record<string, string>> = { ad_platform: "platform", turbo_promoted_object_id: "campaign" };
const TEXT_FIELDS = POSTBACK_RULE_FIELDS.filter(({ name }) => name !== "enabled");

function optionOf(name: string): string {
  return (SHORT[name] ?? name).replaceAll("_", "-");
}

function withRuleOptions(command: Command): Command {
  for (const { name, hint } of TEXT_FIELDS) command.option(`--${optionOf(name)} <text>`, hint);
  return command
    .option(
      "--property <test>",
      'a condition that must hold, such as event$product equal "gold"; may be repeated',
      collect,
    )
    .option("--disabled", "keep the rule without using it");
}

function collect(text: string, known: string[] = []): string[] {
  return [...known, text];
}

/** commander turns `--event-type` into eventType. */
function givenRule(options: RuleOptions): GivenRule {
  const given: Record<string, unknown> = {};
  for (const { name } of TEXT_FIELDS) {
    const text = options[optionOf(name).replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())];
    if (text !== undefined) given[name] = text;
  }
  if (options.enabled) given.enabled = "on";
  if (options.disabled) given.enabled = "off";
  return { ...given, ...(options.property !== undefined && { properties: options.property as string[] }) };
}

/** The rule as one line of a table. */
function rowOf({ turbo_promoted_object_id, properties, ...rule }: ShownRule): Record<string, unknown> {
  return { ...rule, campaign: turbo_promoted_object_id, properties: (properties as string[]).join(" and ") };
}

import type { Command } from "commander";
import { systemClock } from "../../clock.ts";
import { readDays } from "../../domain/postback/postback-request.ts";
import { type GivenRule, POSTBACK_RULE_FIELDS } from "../../domain/postback/postback-rule-fields.ts";
import { type DryRun, dryRun } from "../../postback/dry-run.ts";
import {
  addRule,
  changeRule,
  dropRule,
  listRules,
  orderRules,
  type ShownRule,
  shownRule,
  triedRule,
} from "../../postback/rules.ts";
import { listOf, ProgressBar, parseDay, parseInteger, parseIntegers, print, tableOf } from "../output.ts";
import { findApp, withDatabase } from "../session.ts";

type AppOption = { app: number; json?: boolean };
type RuleOptions = Record<string, unknown>;

export function postbackRuleCommands(postback: Command): void {
  const rule = postback.command("rule").description("When a platform is told what");

  rule
    .command("list")
    .description("The rules of an app")
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--json", "print JSON")
    .action((options: AppOption) =>
      withDatabase(async (session) => {
        const { appId } = await findApp(session, options.app);
        const rules = await listRules(session.pool, appId);
        print(rules, options, () => tableOf(rules.map(rowOf)));
      }),
    );

  withRuleOptions(rule.command("add").description("Add a rule; --moment and --event-type are needed"))
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--json", "print JSON")
    .action((options: AppOption & RuleOptions) =>
      withDatabase(async (session) => {
        const { appId } = await findApp(session, options.app);
        const made = await addRule(session.pool, appId, givenRule(options), systemClock());
        print(made, options, () => listOf(made));
      }),
    );

  withRuleOptions(
    rule.command("set").description("Change what is named of a rule; an empty text takes a condition away"),
  )
    .argument("<rule>", "id of the rule", parseInteger)
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--enabled", "use it again")
    .option("--json", "print JSON")
    .action((ruleId: number, options: AppOption & RuleOptions) =>
      withDatabase(async (session) => {
        const { appId } = await findApp(session, options.app);
        const changed = await changeRule(session.pool, { appId, ruleId }, givenRule(options), systemClock());
        print(changed, options, () => listOf(changed));
      }),
    );

  rule
    .command("remove")
    .description("Remove a rule; what was told by it stays as it is")
    .argument("<rule>", "id of the rule", parseInteger)
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--json", "print JSON")
    .action((ruleId: number, options: AppOption) =>
      withDatabase(async (session) => {
        const { appId } = await findApp(session, options.app);
        await dropRule(session.pool, { appId, ruleId });
        print({ rule_id: ruleId }, options, () => `Rule ${ruleId} was removed.`);
      }),
    );

  rule
    .command("order")
    .description("Of rules that are about the same, the first one that fits counts: name all rules of the app in order")
    .argument("<rules>", "ids of the rules, with commas between them", parseIntegers)
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--json", "print JSON")
    .action((ruleIds: number[], options: AppOption) =>
      withDatabase(async (session) => {
        const { appId } = await findApp(session, options.app);
        const rules = await orderRules(session.pool, appId, ruleIds, systemClock());
        print(rules, options, () => tableOf(rules.map(rowOf)));
      }),
    );
}

export function dryRunCommand(postback: Command): void {
  const command = postback
    .command("dry-run")
    .description(
      "Tries a rule on the past, without sending or storing anything: alone, as if it had always been there. A platform that takes postbacks counts as one with an account; whether it knows the event type shows when it is told",
    )
    .requiredOption("--app <app>", "app id", parseInteger)
    .requiredOption("--from <day>", "first local day", parseDay)
    .requiredOption("--to <day>", "last local day", parseDay)
    .option("--rule <id>", "this rule, with what else is named changed; without it a new one", parseInteger)
    .option("--json", "print JSON");
  withRuleOptions(command).action((options: AppOption & RuleOptions & DryRunOptions) =>
    withDatabase(async (session) => {
      const app = await findApp(session, options.app);
      const { from, to } = options;
      const days = readDays({ from, to });
      const rule = await triedRule(session.pool, app.appId, { ruleId: options.rule, given: givenRule(options) });
      const bar = new ProgressBar("judged");
      const progress = (done: number, total: number) => bar.show(done, total);
      const result = await dryRun(session.pool, app, rule, { days, progress });
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
  const sum = `Of ${users} users ${sent} postbacks with ${amount_cents} cents would have been sent, ${skipped} skipped.`;
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
    .option("--property <test>", 'a test that must hold, as event$product equal "gold"; may be repeated', collect)
    .option("--disabled", "keep it without using it");
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

/** Short enough for a line. */
function rowOf({ turbo_promoted_object_id, properties, ...rule }: ShownRule): Record<string, unknown> {
  return { ...rule, campaign: turbo_promoted_object_id, properties: (properties as string[]).join(" and ") };
}

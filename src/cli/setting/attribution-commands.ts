import type { Command } from "commander";
import { changeRules, readGivenRules } from "../../admin/setting/attribution-rules.ts";
import { type AppRuleSettings, loadRuleSettings } from "../../db/attribution-setting.ts";
import {
  DEFAULT_RULE_TEXTS,
  isTriable,
  RULE_FIELDS,
  type RuleField,
  ruleTexts,
} from "../../domain/attribution/rule-fields.ts";
import { UsageError } from "../../errors.ts";
import { fraudReport } from "../../report/attribution/fraud.ts";
import { whatIf } from "../../report/attribution/what-if.ts";
import { explainUser } from "../../report/attribution/why.ts";
import { deskOf } from "../desk.ts";
import { parseDay, parseInteger, print, tableOf } from "../output.ts";
import { parsePlatform } from "../platform-option.ts";
import { findApp, withDatabase } from "../session.ts";

type Json = { json?: boolean };
type AppOption = { app: number } & Json;
type Days = { from: string; to: string };

export function attributionCommands(program: Command): void {
  rulesCommands(program);
  whyCommand(program);
  whatIfCommand(program);
  fraudCommand(program);
}

function rulesCommands(program: Command): void {
  const rules = program.command("rules").description("Attribution rules, per app and per platform");

  rules
    .command("show")
    .description("Show the rules in force: the defaults, overridden by the app's and then by each platform's rules")
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--json", "print JSON")
    .action((options: AppOption) =>
      withDatabase(async (session) => {
        await findApp(session, options.app);
        const shown = shownRules(await loadRuleSettings(session.pool, [options.app]));
        print(shown, options, () => tableOf(shown.map((row) => ({ ...row }))));
      }),
    );

  const set = rules
    .command("set")
    .description("Change the rules of an app, or with --platform of one of its platforms")
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--platform <name>", "only for this ad platform", parsePlatform)
    .option("--reset", "drop all rules set before")
    .option("--akey <key>", "Baidu's key, which signs its clicks; an empty text removes it")
    .option("--json", "print JSON");
  addRuleOptions(set).action(
    (options: AppOption & RuleOptions & { platform?: string; reset?: boolean; akey?: string }) =>
      withDatabase(async (session) => {
        const { app: app_id, platform: ad_platform, reset, akey } = options;
        const body = { app_id, ad_platform, rules: ruleTextsOf(options), reset, akey };
        const shown = shownRules(await changeRules(deskOf(session), body));
        print(shown, options, () => tableOf(shown.map((row) => ({ ...row }))));
      }),
  );
}

type RuleOptions = Record<string, unknown>;

function addRuleOptions(command: Command, fields: readonly RuleField[] = RULE_FIELDS): Command {
  for (const field of fields) {
    command.option(
      `--${field.name.replaceAll("_", "-")} <${field.takes}>`,
      `${field.hint} (${DEFAULT_RULE_TEXTS[field.name] || "none"})`,
    );
  }
  return command;
}

/** commander turns `--click-window` into clickWindow. */
function ruleTextsOf(options: RuleOptions): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const { name } of RULE_FIELDS) {
    const given = options[name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())];
    if (typeof given === "string") texts[name] = given;
  }
  return texts;
}

function shownRules(settings: readonly AppRuleSettings[]): Record<string, string>[] {
  const ofApp = settings.find(({ platform }) => platform === "")?.rules ?? {};
  const app = { ad_platform: "(all)", ...DEFAULT_RULE_TEXTS, ...ruleTexts(ofApp) };
  return [
    app,
    ...settings
      .filter(({ platform }) => platform !== "")
      .map(({ platform, rules }) => ({ ...app, ...ruleTexts(rules), ad_platform: platform })),
  ];
}

function whyCommand(program: Command): void {
  program
    .command("why")
    .description("Explain why a user belongs to an ad platform, or to none: every candidate, and why it won or lost")
    .requiredOption("--app <app>", "app id", parseInteger)
    .argument("<client>", "client id")
    .option("--json", "print JSON")
    .action((clientId: string, options: AppOption) =>
      withDatabase(async (session) => {
        const app = await findApp(session, options.app);
        const explanation = await explainUser(session.pool, app, clientId);
        if (!explanation) throw new UsageError(`App ${app.appId} has no user ${JSON.stringify(clientId)}.`);
        print(explanation, options, () => {
          const earlier = explanation.decisions.filter(({ number }) => number !== explanation.number);
          return [explanation.account, ...earlier.map(({ account }) => `\nBefore:\n${account}`)].join("\n");
        });
      }),
    );
}

function whatIfCommand(program: Command): void {
  const command = program
    .command("what-if")
    .description("Decide the registrations of some days again under other rules, without changing anything")
    .requiredOption("--app <app>", "app id", parseInteger)
    .requiredOption("--from <day>", "first local day", parseDay)
    .requiredOption("--to <day>", "last local day", parseDay)
    .option("--json", "print JSON");
  addRuleOptions(command, RULE_FIELDS.filter(isTriable)).action((options: AppOption & Days & RuleOptions) =>
    withDatabase(async (session) => {
      const app = await findApp(session, options.app);
      const over = readGivenRules(ruleTextsOf(options), "");
      if (Object.keys(over).length === 0)
        throw new UsageError("Name at least one rule to try, e.g. --click-window 3d.");
      const range = rangeOf(options);
      const result = await whatIf(session.pool, app, range, { kind: "everywhere", rules: over });
      print(result, options, () =>
        [
          tableOf(result.rows),
          "",
          `${result.moved} of ${result.decisions} users and ${result.moved_revenue_cents} cents of revenue would move.`,
        ].join("\n"),
      );
    }),
  );
}

function fraudCommand(program: Command): void {
  program
    .command("fraud")
    .description("Show signs of fraud: flags on decisions, ads with too even gaps, devices with many clients")
    .requiredOption("--app <app>", "app id", parseInteger)
    .requiredOption("--from <day>", "first local day", parseDay)
    .requiredOption("--to <day>", "last local day", parseDay)
    .option("--json", "print JSON")
    .action((options: AppOption & Days) =>
      withDatabase(async (session) => {
        const app = await findApp(session, options.app);
        const found = await fraudReport(session.pool, app, rangeOf(options));
        print(found, options, () =>
          Object.entries(found)
            .map(([name, rows]) => `${name}\n${rows.length === 0 ? "(none)" : tableOf(rows)}`)
            .join("\n\n"),
        );
      }),
    );
}

function rangeOf({ from, to }: Days): { fromDay: string; toDay: string } {
  if (from > to) throw new UsageError("--from is after --to.");
  return { fromDay: from, toDay: to };
}

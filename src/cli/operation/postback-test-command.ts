import { type Command, InvalidArgumentError, Option } from "commander";
import { testPostback } from "../../admin/operation/postback-tests.ts";
import { systemClock } from "../../clock.ts";
import type { PostbackTest, TestNote, TestVerdict } from "../../contract/admin/postback-test.ts";
import { TEST_DEVICE_FIELDS } from "../../domain/postback/postback-test.ts";
import { TestDesk } from "../../postback/test-desk.ts";
import { deskOf } from "../desk.ts";
import { parseInteger, print } from "../output.ts";
import { withDatabase } from "../session.ts";

type Texts = Record<string, string>;
type TestOptions = {
  app: number;
  platform: string;
  advertiser?: string;
  eventType: string;
  code?: string;
  cents?: number;
  client?: string;
  click?: Texts;
  device?: Texts;
  mark?: "on" | "off";
  json?: boolean;
};

export function testCommand(postback: Command): void {
  postback
    .command("test")
    .description("Send one test conversion now, of a user or of a click, and show the call with its secrets masked")
    .requiredOption("--app <app>", "app id", parseInteger)
    .requiredOption("--platform <name>", "ad platform")
    .option("--advertiser <id>", "the account's advertiser; without it, the platform's general account")
    .requiredOption("--event-type <type>", "the conversion, as rules name it: activate, register, pay …")
    .option("--code <code>", "the platform's own code, as a rule may name it; without it, the usual one")
    .option("--cents <n>", "amount of the conversion", parseInteger)
    .option("--client <client>", "a user whom the platform brought")
    .option(
      "--click <name=value>",
      "instead of --client: a key of the click by the platform's own name, such as callback; may be repeated",
      parsePair,
    )
    .option("--device <name=value>", `with --click: ${TEST_DEVICE_FIELDS.join(", ")}; may be repeated`, parsePair)
    .addOption(
      new Option("--mark <switch>", "whether the platform's mark of tests is sent (on)").choices(["on", "off"]),
    )
    .option("--json", "print JSON")
    .action((options: TestOptions) =>
      withDatabase(async (session) => {
        const { pool, vault, config } = session;
        const { postbackDeadlineMs: deadlineMs, platformPrivateNetworks: mayCallPrivate } = config;
        const tests = new TestDesk({ pool, vault, clock: systemClock, deadlineMs, mayCallPrivate });
        const { app: app_id, platform: ad_platform, advertiser: advertiser_id, eventType: event_type } = options;
        const { code, cents: value_cents, client: client_id, click, device, mark } = options;
        const what = { app_id, ad_platform, advertiser_id, event_type, code, value_cents, mark };
        const asked = { ...what, client_id, click, device };
        const test = await testPostback({ ...deskOf(session), tests, mayCallPrivate }, asked);
        print(test, options, () => tellTest(test));
        if (test.verdict !== "accepted") process.exitCode = 1;
      }),
    );
}

function parsePair(text: string, known: Texts = {}): Texts {
  const [, name, value] = /^([A-Za-z][A-Za-z0-9_]*)=([\s\S]*)$/.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError("It must look like name=value.");
  return { ...known, [name]: value };
}

const VERDICTS: Readonly<Record<TestVerdict, string>> = {
  accepted: "The platform accepted it.",
  refused: "The platform refused it; a real postback would have failed.",
  retry: "It was not accepted; a real postback would be tried again.",
  no_answer: "No answer came; the platform may have counted it.",
  not_sent: "It could not be sent.",
};

const NOTES: Readonly<Record<TestNote, string>> = {
  new_token: "The first call was refused for its token; this is the second one, with a new token.",
  other_account: "Real postbacks of this user go through another account.",
};

function tellTest({ test_id, at, mark, request, answer, verdict, reason, notes }: PostbackTest): string {
  const marked =
    mark === "" ? "Sent without a mark: the platform takes it for a real conversion." : `Marked as a test: ${mark}`;
  return [
    `${VERDICTS[verdict]} ${reason}`.trimEnd(),
    marked,
    ...notes.map((note) => NOTES[note]),
    `Test ${test_id}, ${at}`,
    "",
    `${request.method} ${request.url}`,
    ...linesOf(request.headers),
    ...(request.body === "" ? [] : ["", request.body]),
    "",
    ...(answer
      ? [`HTTP ${answer.status}`, ...linesOf(answer.headers), "", answer.body + (answer.is_cut ? " …" : "")]
      : ["(no answer)"]),
  ].join("\n");
}

function linesOf(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
}

import { expect, test } from "vitest";
import type {
  Conversion,
  HttpRequest,
  PostbackConnector,
  ReplyVerdict,
} from "../../src/platform/connector/connector.ts";
import { ASKED, type CodeTable, type reply, rowsOf, type using } from "./sample.ts";

type Change = Partial<Conversion>;
type Used = ReturnType<typeof using>;

type Telling = {
  /** What ties a conversion to its ad. */
  by: Change;
  /** Reads from the request what the platform gets, which is the code `as` sent. */
  told: (change: Change) => unknown;
  as?: (code: string) => unknown;
};

/** Checks that every event type is sent as in the table. */
export function tells(
  platform: string,
  table: CodeTable,
  { reason, by, told, as = String }: Pick<Used, "reason"> & Telling,
): void {
  test.each(rowsOf(table))(`${platform} gets %s as %s`, (eventType, code) => {
    const change = { ...by, eventType };
    if (code === "-") expect(reason(change)).toBe(`The platform has no code for ${eventType}.`);
    else expect(told(change)).toBe(as(code));
  });
}

/** Checks that a conversion with this change, with an account with this change, is not sent, for this reason. */
export function skips({ reason }: Used, cases: readonly (readonly [Change, Record<string, string>, string])[]): void {
  test.each(cases)("with %j and %j nothing is sent: %s", (change, own, said) => {
    expect(reason(change, own)).toBe(said);
  });
}

/** Checks how replies of a platform, to this request, decide the postback. */
export function reads(
  connector: PostbackConnector,
  cases: readonly (readonly [string, ReturnType<typeof reply>, ReplyVerdict["kind"]])[],
  request: HttpRequest = ASKED,
): void {
  test.each(cases)("%s is read", (_, answer, kind) => {
    expect(connector.read(answer, request).kind).toBe(kind);
  });
}

import type { Static } from "typebox";
import { type PostbackTest, postbackTestBody } from "../../contract/admin/postback-test.ts";
import { calendarOf } from "../../domain/calendar.ts";
import { loadConnectors } from "../../outbound/connectors.ts";
import type { TestDesk } from "../../postback/test-desk.ts";
import { type PreparedTest, prepareTest } from "../../postback/test-postback.ts";
import { readTest } from "../../postback/test-wish.ts";
import { knownAppRules } from "../apps.ts";
import { act, type Desk } from "../desk.ts";

type TestBody = Static<typeof postbackTestBody>;

/** A desk from which tests are sent. */
export type TestingDesk = Desk & { tests: TestDesk; mayCallPrivate: boolean };

/**
 * Sends one test conversion now and shows the call. The note is committed before the call, which is no part of a
 * transaction: nothing is sent that is not noted. Postbacks, outbox and reports are left alone.
 */
export async function testPostback(desk: TestingDesk, body: TestBody): Promise<PostbackTest> {
  const { timeZone } = await knownAppRules(desk.pool, body.app_id);
  const { testId, atMs, ...outcome } = await desk.tests.run(body.app_id, () =>
    act(desk, {
      action: "postback/test",
      schema: postbackTestBody,
      body,
      noted: (test) => notedOf(body, test),
      run: async (tx) => {
        const { vault, clock, mayCallPrivate } = desk;
        const wish = readTest(body, await loadConnectors(tx, body.app_id));
        const test = await prepareTest(tx, { vault, nowMs: clock(), mayCallPrivate }, wish);
        desk.tests.admit(test);
        return test;
      },
    }),
  );
  return { test_id: testId, at: calendarOf(timeZone).textOf(atMs), ...outcome };
}

/** Of users and clicks, the log keeps only which fields were named: ids in it would outlive the erasure of their users. */
function notedOf({ client_id, click, device, ...plain }: TestBody, { testId, to }: PreparedTest): object {
  return {
    ...plain,
    client_id: client_id === undefined ? undefined : "…",
    click: click && Object.keys(click),
    device: device && Object.keys(device),
    test_id: testId,
    to,
  };
}

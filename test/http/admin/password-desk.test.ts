import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { PasswordDesk, type Standing } from "../../../src/http/admin/session/password-desk.ts";
import { LIMITS } from "../../../src/limits.ts";

test("one password is hashed at a time, known people first, and the queues are short", async () => {
  const desk = new PasswordDesk();
  const begun: string[] = [];
  let finish = () => {};
  const ask = (standing: Standing, name: string) =>
    desk.inTurn(standing, () => {
      begun.push(name);
      return new Promise<void>((resolve) => (finish = resolve));
    });
  const all = [ask("stranger", "first")];
  for (let number = 1; number <= LIMITS.passwordsWaiting; number += 1) all.push(ask("stranger", `stranger ${number}`));
  await expect(ask("stranger", "one too many")).rejects.toMatchObject({ reason: "rateLimited", retryAfterS: 3 });
  all.push(ask("known", "known"));
  for (let number = 1; number <= all.length; number += 1) {
    await turn();
    expect(begun).toHaveLength(number);
    finish();
  }
  await Promise.all(all);
  expect(begun.slice(0, 4)).toEqual(["first", "known", "stranger 1", "stranger 2"]);
  const failing = desk.inTurn("known", () => Promise.reject(new Error("broken")));
  await expect(failing).rejects.toThrow("broken");
  const next = ask("stranger", "next");
  finish();
  await next;
});

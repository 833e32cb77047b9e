import { expect, test } from "vitest";
import { everywhere } from "../../../src/domain/access/role.ts";
import type { Actor } from "../../../src/http/admin/actor.ts";
import { SeenSessions } from "../../../src/http/admin/seen-sessions.ts";
import { LIMITS } from "../../../src/limits.ts";

const actorOf = (session: string): Actor => ({ name: "ann", grants: everywhere("admin"), userId: 1, session });
const MINUTE = 60_000;

test("a session checked within a quarter of an hour is trusted, and no other", () => {
  const seen = new SeenSessions();
  seen.note("a", actorOf("a"), 0);
  expect(seen.find("a", 15 * MINUTE - 1)).toEqual(actorOf("a"));
  expect(seen.find("a", 15 * MINUTE)).toBeUndefined();
  expect(seen.find("b", 0)).toBeUndefined();
  seen.note("a", actorOf("a"), 10 * MINUTE);
  expect(seen.find("a", 20 * MINUTE)).toEqual(actorOf("a"));
  seen.forget("a");
  expect(seen.find("a", 20 * MINUTE)).toBeUndefined();
});

test("a limited number of sessions is remembered, those seen last", () => {
  const seen = new SeenSessions();
  seen.note("kept", actorOf("kept"), 0);
  for (let number = 0; number < LIMITS.seenSessions; number += 1) {
    seen.note(`${number}`, actorOf(`${number}`), 0);
    seen.note("kept", actorOf("kept"), 0);
  }
  expect(seen.find("kept", 0)).toBeDefined();
  expect(seen.find("0", 0)).toBeUndefined();
  expect(seen.find("1", 0)).toBeDefined();
});

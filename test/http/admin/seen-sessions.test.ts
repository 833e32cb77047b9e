import Fastify from "fastify";
import { describe, expect, test } from "vitest";
import { addPerson } from "../../../src/admin/session/people.ts";
import { routeValidatorOf } from "../../../src/contract/validation.ts";
import { beginSecondFactor, confirmSecondFactor } from "../../../src/db/second-factor.ts";
import { everywhere } from "../../../src/domain/access/role.ts";
import type { Actor } from "../../../src/http/admin/actor.ts";
import { SeenSessions } from "../../../src/http/admin/seen-sessions.ts";
import { consoleUserRoutes } from "../../../src/http/admin/session/console-user-routes.ts";
import { LIMITS } from "../../../src/limits.ts";
import { DeskStage } from "../../admin/desk-stage.ts";
import { vault } from "../../db/temp-database.ts";
import { ADMIN } from "../../support/admin-caller.ts";

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

describe("an admin's act about a person makes the server forget the sessions that it remembers:", () => {
  const stage = new DeskStage();
  const grants = [{ app_id: null, role: "viewer" as const }];

  test.each([
    ["role", { grants }],
    ["sign-out", {}],
    ["reset-second-factor", {}],
    ["remove", {}],
  ])("%s", async (path, more) => {
    const { user } = await addPerson(stage.desk, { name: `to-${path}`, grants });
    await beginSecondFactor(stage.pool, vault, { userId: user.userId, secret: Buffer.alloc(20) });
    await confirmSecondFactor(stage.pool, { userId: user.userId, codes: [], nowMs: 0 });
    const seenSessions = new SeenSessions();
    seenSessions.note("theirs", { ...user, session: "theirs" }, 0);
    seenSessions.note("other", actorOf("other"), 0);
    const server = Fastify();
    server.setValidatorCompiler(({ schema }) => routeValidatorOf(schema as object));
    server.setSerializerCompiler(() => JSON.stringify);
    server.addHook("preHandler", async (request) => {
      request.actor = actorOf("other");
      request.by = stage.desk.by;
    });
    consoleUserRoutes(server, { ...stage.desk, seenSessions });
    const payload = { name: `To-${path}`, ...more };
    const answer = await server.inject({ method: "POST", url: `${ADMIN}/console-users/${path}`, payload });
    expect(answer.json()).toMatchObject({ code: 0 });
    expect(seenSessions.find("theirs", 0)).toBeUndefined();
    expect(seenSessions.find("other", 0)).toBeDefined();
  });
});

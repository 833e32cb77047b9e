import { randomBytes } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { expect, test } from "vitest";
import { knownDevice, rememberDevice } from "../../../src/http/admin/session/known-device.ts";
import { Vault } from "../../../src/vault.ts";

const vault = new Vault(randomBytes(32));
const requestWith = (cookie: string) => ({ headers: { cookie } }) as FastifyRequest;

function cookieFor(name: string): string {
  let cookie = "";
  const reply = { header: (_: string, value: string) => (cookie = value) } as unknown as FastifyReply;
  rememberDevice(vault, name, { request: requestWith(""), reply });
  return cookie.split(";")[0]!;
}

test("a browser is known only for the person who signed in there, and only to this installation", () => {
  const cookie = cookieFor("ann");
  expect(knownDevice(vault, requestWith(`a=b; ${cookie}`), " Ann")).toMatch(/^[\w-]{22}$/);
  expect(knownDevice(vault, requestWith(cookie), "bob")).toBeUndefined();
  expect(knownDevice(new Vault(randomBytes(32)), requestWith(cookie), "ann")).toBeUndefined();
  const [id, mark] = cookie.split("=")[1]!.split(".");
  for (const forged of ["", "x.y", `${id}.`, `${id}.${"A".repeat(43)}`, `${"A".repeat(22)}.${mark}`]) {
    expect(knownDevice(vault, requestWith(`touchpoint_device=${forged}`), "ann")).toBeUndefined();
  }
});

test("each browser has its own cookie", () => {
  expect(cookieFor("ann")).not.toBe(cookieFor("ann"));
});

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { nameOf } from "../../../db/admin-user.ts";
import type { Vault } from "../../../vault.ts";
import { cookieOf, setCookie } from "../cookie.ts";

const COOKIE = "touchpoint_device";
/** Nobody else needs it. */
const SIGN_IN = "/admin/api/v1/session/sign-in";
const LIFE_S = 180 * 24 * 3600;
const MARKED = /^([\w-]{22})\.([\w-]{43})$/;

/**
 * A browser in which somebody has signed in before keeps a cookie that says so. It opens nothing: its failures are counted by
 * themselves, so that nobody who fails elsewhere in the same name, or from behind the same address, can keep its owner out.
 */
export function knownDevice(vault: Vault, request: FastifyRequest, name: string): string | undefined {
  const [, id = "", mark = ""] = MARKED.exec(cookieOf(request, COOKIE) ?? "") ?? [];
  const expected = Buffer.from(markOf(vault, id, name));
  const given = Buffer.from(mark);
  return given.length === expected.length && timingSafeEqual(given, expected) ? id : undefined;
}

/** Makes the browser of a person who has just signed in a known device. */
export function rememberDevice(
  vault: Vault,
  name: string,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): void {
  const id = randomBytes(16).toString("base64url");
  const value = `${id}.${markOf(vault, id, name)}`;
  setCookie(request, reply, { name: COOKIE, value, lifeS: LIFE_S, path: SIGN_IN });
}

function markOf(vault: Vault, id: string, name: string): string {
  return createHmac("sha256", vault.keyFor("known-device"))
    .update(`${id} ${nameOf(name)}`)
    .digest("base64url");
}

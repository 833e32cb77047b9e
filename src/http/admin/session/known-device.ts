import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import { nameOf } from "../../../db/admin-user.ts";
import type { Vault } from "../../../vault.ts";
import { cookieOf, setCookie } from "../cookie.ts";

const COOKIE = "touchpoint_device";
/** The cookie's path: no other route needs it. */
const SIGN_IN = "/admin/api/v1/session/sign-in";
const LIFE_S = 180 * 24 * 3600;
const MARKED = /^([\w-]{22})\.([\w-]{43})$/;

/**
 * The id of a browser that has signed in before, kept in a cookie. The cookie grants no access. Its failures are
 * counted separately, so that failures elsewhere under the same name, or behind the same address, cannot lock its owner
 * out.
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

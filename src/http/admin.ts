import { timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { ApiError } from "../errors.ts";
import type { Vault } from "../vault.ts";

/** The token of the admin interface. Made from the installation's own key, so it changes only with that. */
export function adminToken(vault: Vault): string {
  return vault.keyFor("admin-token").toString("hex");
}

export function requireAdmin(expected: Buffer, request: FastifyRequest): void {
  const given = Buffer.from((request.headers.authorization ?? "").replace(/^Bearer /, ""));
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw new ApiError("badSign", "Authorization must be `Bearer ` and the admin token (`cli admin token` prints it).");
  }
}

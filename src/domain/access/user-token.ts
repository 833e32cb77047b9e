import { createHmac, timingSafeEqual } from "node:crypto";

/**
 * The token that a registration returns: it names app and client and carries a signature, so that it needs no table
 * and never expires.  <base64url of "app:client">.<base64url of the first 16 bytes of HMAC-SHA256>
 */
export function makeUserToken(secret: Buffer, user: { appId: number; clientId: string }): string {
  const body = Buffer.from(`${user.appId}:${user.clientId}`).toString("base64url");
  return `${body}.${signature(secret, body).toString("base64url")}`;
}

export function readUserToken(secret: Buffer, token: string): { appId: number; clientId: string } | undefined {
  const [body = "", signed = "", ...rest] = token.split(".");
  const given = Buffer.from(signed, "base64url");
  const expected = signature(secret, body);
  if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  const text = Buffer.from(body, "base64url").toString("utf8");
  const colon = text.indexOf(":");
  return { appId: Number(text.slice(0, colon)), clientId: text.slice(colon + 1) };
}

function signature(secret: Buffer, body: string): Buffer {
  return createHmac("sha256", secret).update(`user-token:${body}`).digest().subarray(0, 16);
}

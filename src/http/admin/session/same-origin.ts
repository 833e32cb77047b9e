import type { FastifyRequest } from "fastify";
import { ApiError } from "../../../errors.ts";
import type { CallerAddress } from "../../caller-address.ts";

/**
 * Refuses requests that a page of another site makes a browser send: it could sign a person out, or in under a name of
 * its own. Browsers name a request's origin in one of two headers that no page can change; other callers send neither.
 */
export function requireSameOrigin(context: { caller: CallerAddress }, request: FastifyRequest): void {
  const site = request.headers["sec-fetch-site"];
  const isOwn = site === undefined ? isOwnOrigin(context, request) : site === "same-origin" || site === "none";
  if (!isOwn) throw new ApiError("badSign", "The request was sent by a page of another site.");
}

/** Over plain HTTP browsers send only the origin. A proxy may change the host, and then forwards the original one. */
function isOwnOrigin({ caller }: { caller: CallerAddress }, { headers, raw }: FastifyRequest): boolean {
  const { origin } = headers;
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const forwarded = caller.trusts(raw.socket.remoteAddress) ? [headers["x-forwarded-host"] ?? []].flat() : [];
  const hosts = [headers.host ?? "", ...forwarded.flatMap((text) => text.split(","))];
  return hosts.some((host) => plainHost(host) === plainHost(new URL(origin).host));
}

/** The host without a default port, which may be written or left out. */
function plainHost(host: string): string {
  return host
    .trim()
    .toLowerCase()
    .replace(/:(?:80|443)$/, "");
}

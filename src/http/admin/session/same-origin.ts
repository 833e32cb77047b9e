import type { FastifyRequest } from "fastify";
import { ApiError } from "../../../errors.ts";
import type { CallerAddress } from "../../caller-address.ts";

/**
 * Refuses what a page of another site makes a browser send: else it could sign somebody in under a name of its own, or out.
 * Browsers say where a request comes from, in one of two headers that no page can change; other callers send neither.
 */
export function requireSameOrigin(context: { caller: CallerAddress }, request: FastifyRequest): void {
  const site = request.headers["sec-fetch-site"];
  const isOwn = site === undefined ? isOwnOrigin(context, request) : site === "same-origin" || site === "none";
  if (!isOwn) throw new ApiError("badSign", "The request comes from a page of another site.");
}

/** Over plain HTTP browsers name the origin alone. A proxy may call by another name than it was called by, and then says so. */
function isOwnOrigin({ caller }: { caller: CallerAddress }, { headers, raw }: FastifyRequest): boolean {
  const { origin } = headers;
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const forwarded = caller.trusts(raw.socket.remoteAddress) ? [headers["x-forwarded-host"] ?? []].flat() : [];
  const hosts = [headers.host ?? "", ...forwarded.flatMap((text) => text.split(","))];
  return hosts.some((host) => plainHost(host) === plainHost(new URL(origin).host));
}

/** Without the port where it is the usual one, which may be said or left out. */
function plainHost(host: string): string {
  return host
    .trim()
    .toLowerCase()
    .replace(/:(?:80|443)$/, "");
}

import type { FastifyRequest } from "fastify";
import { ApiError } from "../../errors.ts";

/** The address at which others reach this server: the given one, or else the one that this request was sent to. */
export function baseUrlOf(request: FastifyRequest, given: string | undefined): string {
  const url = given ?? `${request.protocol}://${request.host}`;
  if (/^https?:\/\/[^?#\s/][^?#\s]*$/.test(url)) return url.replace(/\/+$/, "");
  throw new ApiError("badParameter", "base_url must be an address such as https://track.example.com.");
}

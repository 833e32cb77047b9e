import type { FastifyReply, FastifyRequest } from "fastify";

export function cookieOf(request: FastifyRequest, name: string): string | undefined {
  const cookies = (request.headers.cookie ?? "").split(";").map((part) => part.trim().split("="));
  return cookies.find(([known]) => known === name)?.[1] || undefined;
}

/** No script can read the cookie and no other site can send it. A cookie set over TLS is sent back over TLS only. */
export function setCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  { name, value, lifeS, path }: { name: string; value: string; lifeS: number; path: string },
): void {
  const isTls = request.headers["x-forwarded-proto"] === "https";
  const attributes = [`Path=${path}`, "HttpOnly", "SameSite=Strict", `Max-Age=${lifeS}`, ...(isTls ? ["Secure"] : [])];
  reply.header("set-cookie", [`${name}=${value}`, ...attributes].join("; "));
}

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "../errors.ts";
import { PACKAGE } from "../package-folder.ts";
import type { WarmUp } from "./warm-up.ts";

const FOLDER = fileURLToPath(new URL("dist/web/", PACKAGE));

/** Everything is loaded from this server, nothing is inline, and no page may frame the console. */
const HEADERS = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; "),
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=()",
};

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

type ConsoleFile = { type: string; etag: string; plain: Buffer; br: Buffer; gzip: Buffer };
type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

/**
 * The console's files, all in memory (less than 2 MB). An address is a key of this table and never a path, so no
 * spelling can reach anything outside the folder.
 */
export function consoleRoutes(server: FastifyInstance, warmUp: WarmUp): void {
  let known: ConsoleFiles | undefined;
  // A console that is not built is looked for again: somebody may be building it.
  const load = (): ConsoleFiles => {
    if (!known?.size) known = loadFiles(FOLDER);
    return known;
  };
  warmUp.add(load);
  server.get("/", { schema: { hide: true }, handler: async (_request, reply) => reply.redirect("/console/") });
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    const name = (request.params as { "*"?: string })["*"] ?? "";
    const files = load();
    const file = files.get(name);
    if (file) return send(request, reply, file, name);
    // Addresses without an extension are pages, which only the script knows; a missing script or picture is an error.
    const page = extname(name) === "" ? files.get("index.html") : undefined;
    if (page) return send(request, reply, page, "index.html");
    throw new ApiError("unknownPath", files.size > 0 ? "The console has no such file." : "The console is not built.");
  };
  server.get("/console", { schema: { hide: true }, handler });
  server.get("/console/*", { schema: { hide: true }, handler });
}

function send(request: FastifyRequest, reply: FastifyReply, file: ConsoleFile, name: string): FastifyReply {
  // File names in assets/ contain a digest of the content, so the content never changes.
  const isForever = name.startsWith("assets/");
  reply
    .headers(HEADERS)
    .header("cache-control", isForever ? "public, max-age=31536000, immutable" : "no-cache")
    .header("vary", "accept-encoding")
    .header("etag", file.etag)
    .type(file.type);
  if (request.headers["if-none-match"] === file.etag) return reply.code(304).send();
  const accepted = String(request.headers["accept-encoding"] ?? "");
  if (/\bbr\b/.test(accepted)) return reply.header("content-encoding", "br").send(file.br);
  if (/\bgzip\b/.test(accepted)) return reply.header("content-encoding", "gzip").send(file.gzip);
  return reply.send(file.plain);
}

function loadFiles(folder: string): ConsoleFiles {
  if (!existsSync(folder)) return new Map();
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined || !existsSync(`${path}.br`)) return [];
    const [plain, br, gzip] = [readFileSync(path), readFileSync(`${path}.br`), readFileSync(`${path}.gz`)];
    const etag = `"${createHash("sha256").update(plain).digest("base64url").slice(0, 22)}"`;
    return [[relative(folder, path).split(sep).join("/"), { type, etag, plain, br, gzip }] as const];
  });
  return new Map(entries);
}

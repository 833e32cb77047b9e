import type { FastifyInstance } from "fastify";
import { replaySetAside } from "../../../admin/operation/set-aside.ts";
import {
  healthEnvelope,
  ledgerEnvelope,
  ledgerQuery,
  replayBody,
  replayEnvelope,
  type SetAsideAnswer,
  setAsideEnvelope,
  setAsideQuery,
} from "../../../contract/admin/health.ts";
import { countSetAside, type ListedSetAside, pageSetAside } from "../../../db/set-aside.ts";
import { appsFor } from "../../../domain/access/role.ts";
import { decodeEntry } from "../../../journal/entry.ts";
import { beginningOf } from "../../../journal/packed-body.ts";
import { LIMITS } from "../../../limits.ts";
import { type LedgerWish, sumLedger } from "../../../report/ledger.ts";
import { adminRoute } from "../admin-route.ts";
import { healthOf } from "./health.ts";
import type { OperationContext } from "./operation-context.ts";

/** For operators: the server's health, what became of everything received, and what was set aside. */
export function healthRoutes(routes: FastifyInstance, context: OperationContext): void {
  adminRoute(routes, {
    path: "health",
    summary: "Health of the server",
    description:
      "Journal, tables, disk, database, reports, postbacks and cost pulls. `database` is null while the database is away.",
    access: "report",
    apps: "some",
    answer: healthEnvelope,
    run: async ({ request }) => healthOf(context, appsFor(request.actor.grants, "report")),
  });

  adminRoute(routes, {
    path: "ledger",
    summary: "What was received, and what became of it",
    description: "By minute, hour or day of the app's local clock. In each, received = stored + duplicate + rejected.",
    access: "report",
    query: ledgerQuery,
    answer: ledgerEnvelope,
    run: async ({ query }) => {
      const { app_id, of = "events", step = "minute", minutes, ...range } = query;
      const app = await context.apps.findById(Number(app_id));
      const last = minutes === undefined ? {} : { minutes: Number(minutes) };
      const wish: LedgerWish = { of, step, ...range, ...last };
      return context.reads.read(({ pool }) => sumLedger(pool, app, { ...wish, nowMs: context.clock() }));
    },
  });

  setAsideRoutes(routes, context);
}

function setAsideRoutes(routes: FastifyInstance, { pool, vault, apps, clock }: OperationContext): void {
  adminRoute(routes, {
    path: "set-aside",
    summary: "Journal entries that could not be understood, newest first",
    access: "detail",
    apps: "some",
    query: setAsideQuery,
    answer: setAsideEnvelope,
    run: async ({ query, request }) => {
      const { app_id, before = Number.MAX_SAFE_INTEGER } = query;
      const own = appsFor(request.actor.grants, "detail");
      const chosen = app_id === undefined ? own : [(await apps.findById(Number(app_id))).appId];
      const [limit, shownBytes] = [LIMITS.setAsidePage + 1, LIMITS.setAsideShownBytes];
      const rows = await pageSetAside(pool, { apps: chosen, beforeId: Number(before), limit, shownBytes });
      return {
        entries: await Promise.all(rows.slice(0, LIMITS.setAsidePage).map(shownEntry)),
        has_more: rows.length > LIMITS.setAsidePage,
        total: await countSetAside(pool, own),
      };
    },
  });

  adminRoute(routes, {
    path: "set-aside/replay",
    summary: "Replay entries that were set aside",
    description: "Answers at once. Entries that still cannot be understood are set aside again, with the reason.",
    access: "operate",
    apps: "some",
    body: replayBody,
    answer: replayEnvelope,
    run: async ({ body, by, request }) => {
      const own = appsFor(request.actor.grants, "operate");
      return { requested: await replaySetAside({ pool, vault, clock, by }, body, own) };
    },
  });
}

async function shownEntry(row: ListedSetAside): Promise<SetAsideAnswer["entries"][number]> {
  const { isWhole, ...content } = await contentOf(row.payload);
  return {
    id: row.setAsideId,
    state: row.state,
    reason: row.reason,
    app_id: row.appId,
    received_at_ms: row.receivedAtMs,
    from: row.from,
    bytes: row.bytes,
    ...content,
    is_cut: !isWhole || row.bytes > row.payload.length,
  };
}

type Readable = { body: string; isWhole: boolean };

/** The readable part of an entry. Only the beginning of its bytes is loaded, and they may be damaged. */
async function contentOf(payload: Buffer): Promise<{ kind: string; client_id: string } & Readable> {
  try {
    const entry = decodeEntry(payload);
    const { kind, client, gzip } = entry.head;
    const shown = readable(await beginningOf(entry, LIMITS.setAsideShownBytes));
    const isWhole = shown.isWhole && (gzip ?? 0) <= LIMITS.setAsideShownBytes;
    return { kind, client_id: client, body: shown.body, isWhole };
  } catch {
    return { kind: "", client_id: "", ...readable(payload) };
  }
}

const NO_TEXT = /[\u0000-\u0008\u000e-\u001f]/;

function readable(bytes: Buffer): Readable {
  const text = bytes.toString("utf8");
  if (!NO_TEXT.test(text)) return { body: text, isWhole: true };
  const shown = bytes.subarray(0, LIMITS.setAsideShownBytes / 2);
  return { body: shown.toString("hex"), isWhole: shown.length === bytes.length };
}

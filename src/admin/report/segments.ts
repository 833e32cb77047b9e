import type { Static, TSchema } from "typebox";
import type { NamedSegment } from "../../contract/analysis/asked.ts";
import {
  type SegmentExportBody,
  type ShownSegment,
  segmentExportBody,
  segmentRemoveBody,
  segmentRenameBody,
  segmentSaveBody,
} from "../../contract/analysis/saved-segment.ts";
import type { SavedRef, Segment } from "../../contract/analysis/segment.ts";
import type { App } from "../../db/app.ts";
import type { Executor } from "../../db/engine/sql.ts";
import { countViewsBySegment } from "../../db/report-view.ts";
import {
  changeSegment,
  createSegment,
  findSegments,
  loadSegments,
  removeSegment as removeRow,
  type SavedSegment,
  type SegmentChange,
} from "../../db/saved-segment.ts";
import type { Stored } from "../../db/stored.ts";
import { type Grants, mayIn } from "../../domain/access/role.ts";
import type { JsonObject } from "../../domain/json.ts";
import { ApiError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { checkSaved, filledIn, savedIn } from "../../report/analysis/saved-segment.ts";
import { assertApps, knownApp } from "../apps.ts";
import { act, assertName, type Desk } from "../desk.ts";

/** Everybody who may ask about events sees all segments of the app; their owners and admins change them. */
type SegmentDesk = Desk & { actor: Actor };
type Actor = { name: string; grants: Grants };
type SegmentKey = { app_id: number; segment_id: number };

/** Conditions name values of users' properties; kept in the audit log, they would outlive the users' erasure. */
const HIDDEN = ["condition"];

/** Saves a new segment, or replaces one. */
export function saveSegment(desk: SegmentDesk, body: Static<typeof segmentSaveBody>): Promise<SavedSegment> {
  const { app_id: appId, segment_id, name } = body;
  const kept = () => {
    checkSaved(body.condition);
    // Checked: it is JSON.
    const condition = body.condition as unknown as JsonObject;
    return { name: readName(name), condition, changedAtMs: desk.clock() };
  };
  const about = { action: "segments/save", schema: segmentSaveBody, body, hides: HIDDEN };
  if (segment_id !== undefined)
    return onSegment(desk, { ...about, key: { ...body, segment_id }, run: (tx, one) => changed(tx, one, kept()) });
  return act(desk, {
    ...about,
    run: async (tx) => {
      await assertApps(tx, [appId]);
      const owner = desk.actor.name;
      return segmentOf(await createSegment(tx, { appId, owner, ...kept() }, LIMITS.segmentsPerApp));
    },
  });
}

export function renameSegment(desk: SegmentDesk, body: Static<typeof segmentRenameBody>): Promise<SavedSegment> {
  const change = () => ({ name: readName(body.name), changedAtMs: desk.clock() });
  return onSegment(desk, {
    action: "segments/rename",
    schema: segmentRenameBody,
    body,
    key: body,
    run: (tx, segment) => changed(tx, segment, change()),
  });
}

export async function removeSegment(desk: SegmentDesk, body: Static<typeof segmentRemoveBody>): Promise<void> {
  await onSegment(desk, {
    action: "segments/remove",
    schema: segmentRemoveBody,
    body,
    key: body,
    run: async (tx, segment) => {
      if (!body.even_if_used) await assertUnused(tx, segment);
      await removeRow(tx, segment);
      return segment;
    },
  });
}

async function assertUnused(tx: Executor, { appId, segmentId, name }: SavedSegment): Promise<void> {
  const views = (await countViewsBySegment(tx, appId)).get(String(segmentId)) ?? 0;
  if (views === 0) return;
  const use = views === 1 ? "1 saved view uses" : `${views} saved views use`;
  throw new ApiError(
    "badParameter",
    `${use} the segment ${JSON.stringify(name)}, and could not be answered without it: change them first, or remove it anyway (even_if_used).`,
  );
}

export type BegunSegmentExport = { app: App; condition: Segment };

/** Begins an export of a segment's users: it is noted before anything is handed out. */
export function beginSegmentExport(desk: Desk, body: SegmentExportBody): Promise<BegunSegmentExport> {
  return act(desk, {
    action: "segments/export",
    schema: segmentExportBody,
    body,
    run: async (tx) => {
      const app = await knownApp(tx, desk.vault, body.app_id);
      const [found] = await savedSegments(tx, { appId: app.appId, wanted: [body.segment] });
      return { app, condition: conditionOf(found!) };
    },
  });
}

/** All segments of an app as the caller sees them. */
export async function listSegments(
  executor: Executor,
  { appId, grants, name }: Actor & { appId: number },
): Promise<ShownSegment[]> {
  const views = await countViewsBySegment(executor, appId);
  const segments = await loadSegments(executor, appId);
  return segments.map((segment) => shownSegment(segment, { name, grants }, views.get(String(segment.segmentId))));
}

export function shownSegment(segment: SavedSegment, actor: Actor, views = 0): ShownSegment {
  return {
    segment_id: segment.segmentId,
    name: segment.name,
    condition: conditionOf(segment),
    owner: segment.owner,
    views,
    may_change: mayChange(segment, actor),
    changed_at: segment.changedAtMs,
  };
}

/** A question whose saved segments are filled in, and those segments. */
export type FilledIn<Question> = { question: Question; saved: NamedSegment[] };

/** Puts the conditions of saved segments into a question that names them. */
export async function fillIn<Question extends object>(
  executor: Executor,
  { appId, question }: { appId: number; question: Question },
): Promise<FilledIn<Question>> {
  const { segment } = question as { segment?: Segment };
  const wanted = savedIn(segment);
  if (!segment || wanted.length === 0) return { question, saved: [] };
  const found = await savedSegments(executor, { appId, wanted });
  const byRef = new Map(wanted.map((ref, index) => [ref, conditionOf(found[index]!)]));
  const saved = [...new Map(found.map((one) => [one.segmentId, one])).values()];
  return {
    question: { ...question, segment: filledIn(segment, (ref) => byRef.get(ref)!) },
    saved: saved.map((one) => ({ segment_id: one.segmentId, name: one.name, condition: conditionOf(one) })),
  };
}

/** The segments with these ids or names, in the same order. */
export async function savedSegments(
  executor: Executor,
  { appId, wanted }: { appId: number; wanted: readonly SavedRef[] },
): Promise<SavedSegment[]> {
  const found = await findSegments(executor, { appId, wanted });
  return wanted.map((ref) => {
    const segment = found.find(({ segmentId, name }) => (typeof ref === "number" ? segmentId === ref : name === ref));
    if (!segment) throw noSegment(ref);
    return segment;
  });
}

function conditionOf({ condition }: SavedSegment): Segment {
  return condition as unknown as Segment;
}

function mayChange({ appId, owner }: SavedSegment, { name, grants }: Actor): boolean {
  return owner === name || mayIn(grants, "setting", appId);
}

type SegmentAct<Body extends TSchema> = {
  action: string;
  schema: Body;
  body: Static<Body>;
  hides?: readonly string[];
  key: SegmentKey;
  run: (tx: Executor, segment: SavedSegment) => Promise<SavedSegment>;
};

/** Changes a segment that the person may change. */
function onSegment<Body extends TSchema>(
  desk: SegmentDesk,
  { key, run, ...about }: SegmentAct<Body>,
): Promise<SavedSegment> {
  const { app_id: appId, segment_id } = key;
  return act<Body, SavedSegment>(desk, {
    ...about,
    run: async (tx) => {
      await assertApps(tx, [appId]);
      const [before] = await savedSegments(tx, { appId, wanted: [segment_id] });
      if (!mayChange(before!, desk.actor))
        throw new ApiError("notGranted", "Only its owner and admins can change a saved segment.");
      return run(tx, before!);
    },
  });
}

async function changed(
  tx: Executor,
  segment: SavedSegment,
  change: SegmentChange & { changedAtMs: number },
): Promise<SavedSegment> {
  return segmentOf(await changeSegment(tx, segment, change));
}

function readName(text: string): string {
  assertName(text);
  return text.trim();
}

function segmentOf(stored: Stored<SavedSegment>): SavedSegment {
  switch (stored.kind) {
    case "stored":
      return stored.row;
    case "name_taken":
      throw new ApiError("badParameter", "The app already has a segment with this name.");
    case "too_many":
      throw new ApiError(
        "badParameter",
        `An app can have at most ${LIMITS.segmentsPerApp} segments; remove one first.`,
      );
    case "gone":
      throw new ApiError("badParameter", "The segment was removed a moment ago.");
  }
}

function noSegment(ref: SavedRef): ApiError {
  const which = typeof ref === "number" ? `with the id ${ref}` : `named ${JSON.stringify(ref).slice(0, 120)}`;
  return new ApiError("badParameter", `The app has no saved segment ${which}: choose another one.`);
}

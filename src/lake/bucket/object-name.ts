import { LAKE_KINDS, type LakeKind } from "../../domain/lake.ts";
import type { FileKey } from "../lake-folder.ts";

/**
 * The names of objects, below the prefix. Files are named as in the folder; whatever has another name is not ours, and is
 * neither read nor removed.
 */

const FILE = /^([a-z]+)\/app=(\d{1,10})\/day=(\d{4,6}-\d{2}-\d{2})\/([0-9a-z]{9,12}-[0-9a-f]{8})\.parquet$/;
const MANIFEST = /^manifests\/app=(\d{1,10})\.json$/;

/** Says to which installation the prefix belongs. */
export const OWNER_NAME = "touchpoint-lake.json";

/** What is listed to find our objects. */
export const LISTED_FOLDERS = [...LAKE_KINDS.map((kind) => `${kind}/`), "manifests/"] as const;

export function nameOfFile({ appId, kind, day, name }: FileKey): string {
  return `${kind}/app=${appId}/day=${day}/${name}.parquet`;
}

export function nameOfManifest(appId: number): string {
  return `manifests/app=${appId}.json`;
}

export type NamedObject = { kind: "file"; file: FileKey } | { kind: "manifest"; appId: number };

/** What an object is by its name, or undefined when it is not ours. */
export function readObjectName(name: string): NamedObject | undefined {
  const [, manifestApp] = MANIFEST.exec(name) ?? [];
  if (manifestApp !== undefined) return { kind: "manifest", appId: Number(manifestApp) };
  const [, kind, appId, day, fileName] = FILE.exec(name) ?? [];
  if (kind === undefined || !LAKE_KINDS.includes(kind as LakeKind)) return undefined;
  return { kind: "file", file: { kind: kind as LakeKind, appId: Number(appId), day: day!, name: fileName! } };
}

import type { UserKey } from "../../domain/user/user-key.ts";

/* The texts by which apply tells users, events and orders apart in memory. */

export function userKeyText({ appId, clientId }: UserKey): string {
  return `${appId}\t${clientId}`;
}

export function eventKeyText({ appId, clientId }: UserKey, fingerprint: string): string {
  return `${appId}\t${clientId}\t${fingerprint}`;
}

export function orderKeyText({ appId, traceId }: { appId: number; traceId: string }): string {
  return `${appId}\t${traceId}`;
}

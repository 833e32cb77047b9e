import type { UserKey } from "../../domain/user/user-key.ts";

/**
 * Values by user. A batch looks its users up dozens of times; one map per app needs no text made of both ids for each
 * look-up.
 */
export class UserMap<Value> {
  readonly #apps = new Map<number, Map<string, Value>>();

  get({ appId, clientId }: UserKey): Value | undefined {
    return this.#apps.get(appId)?.get(clientId);
  }

  has({ appId, clientId }: UserKey): boolean {
    return this.#apps.get(appId)?.has(clientId) ?? false;
  }

  set({ appId, clientId }: UserKey, value: Value): void {
    const values = this.#apps.get(appId);
    if (values) values.set(clientId, value);
    else this.#apps.set(appId, new Map([[clientId, value]]));
  }

  delete({ appId, clientId }: UserKey): void {
    this.#apps.get(appId)?.delete(clientId);
  }

  keys(): UserKey[] {
    return [...this.#apps].flatMap(([appId, values]) => Array.from(values.keys(), (clientId) => ({ appId, clientId })));
  }

  values(): Value[] {
    const all: Value[] = [];
    for (const values of this.#apps.values()) for (const value of values.values()) all.push(value);
    return all;
  }
}

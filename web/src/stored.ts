import { useSyncExternalStore } from "react";

/** A preference that this browser remembers. */
export type Stored<T extends string> = {
  read(): T;
  write(value: T): void;
  subscribe(listener: () => void): () => void;
};

export function stored<T extends string>(name: string, options: { isValue: (text: string) => text is T; fallback: T }) {
  const key = `touchpoint.${name}`;
  const listeners = new Set<() => void>();
  const saved = readSaved(key);
  let value = saved !== null && options.isValue(saved) ? saved : options.fallback;
  // A choice made in one tab applies to the others too.
  addEventListener("storage", ({ key: changed, newValue }) => {
    if (changed !== key || newValue === null || !options.isValue(newValue)) return;
    value = newValue;
    for (const listener of listeners) listener();
  });
  return {
    read: () => value,
    write(next: T) {
      value = next;
      try {
        localStorage.setItem(key, next);
      } catch {
        // A browser without storage still applies the choice until it is closed.
      }
      for (const listener of listeners) listener();
    },
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  } satisfies Stored<T>;
}

function readSaved(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function useStored<T extends string>(store: Stored<T>): T {
  return useSyncExternalStore(store.subscribe, store.read);
}

import { useSyncExternalStore } from "react";

const SHOWN_MS = 4_000;
const TOASTS_MAX = 5;

type Toast = { id: number; sentence: string };

let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function change(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

/** Confirms in a short toast that something was done. Failures are shown where they happened instead. */
export function say(sentence: string): void {
  lastId += 1;
  const id = lastId;
  change([...toasts, { id, sentence }].slice(-TOASTS_MAX));
  setTimeout(() => change(toasts.filter((toast) => toast.id !== id)), SHOWN_MS);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function Toasts() {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, sentence }) => (
        <div key={id} className="toast">
          {sentence}
        </div>
      ))}
    </div>
  );
}

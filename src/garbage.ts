import { LIMITS } from "./limits.ts";

/**
 * Frees what a very large body has left behind. V8 counts little of the buffers outside its heap, so by itself it would let
 * several such bodies pile up. Does nothing where the process was started without `--expose-gc`.
 */
export function collectAfterBody(bytes: number): void {
  if (bytes > LIMITS.applyBatchBytes) globalThis.gc?.();
}

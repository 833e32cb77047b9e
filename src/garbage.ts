import { LIMITS } from "./limits.ts";

/**
 * Frees the memory of a very large body. V8 hardly counts buffers outside its heap, so it would let several such bodies
 * pile up. Does nothing when the process was started without `--expose-gc`.
 */
export function collectAfterBody(bytes: number): void {
  if (bytes > LIMITS.applyBatchBytes) globalThis.gc?.();
}

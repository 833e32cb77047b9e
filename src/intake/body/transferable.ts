/** Bytes in memory of their own, so that they can go to another thread without being copied. */
export function transferable(bytes: Buffer): Uint8Array<ArrayBuffer> {
  const { buffer, length } = bytes;
  return buffer instanceof ArrayBuffer && buffer.byteLength === length ? new Uint8Array(buffer) : new Uint8Array(bytes);
}

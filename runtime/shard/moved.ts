// Bytes of a message that change hands: between threads they are transferred, not copied, so the
// sender must not look at them again. On one node they are passed on as they are.

export class MovedBytes {
  readonly bytes: Uint8Array<ArrayBuffer>;

  /** Takes over `bytes`; a view of something larger, or of shared memory, is copied. */
  constructor(bytes: Uint8Array) {
    const { buffer } = bytes;
    const isAlone = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength;
    this.bytes = isAlone ? new Uint8Array(buffer) : new Uint8Array(bytes);
  }
}

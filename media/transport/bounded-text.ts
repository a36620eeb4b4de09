// The text of a reply that must not be longer than what we take from its server.

/** UTF-8, whole characters wherever its chunks end; null: it is longer than that many bytes. */
export async function readBounded(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

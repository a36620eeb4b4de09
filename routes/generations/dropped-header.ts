// The header that names the members of a request that a provider was not told.
const droppedNamesMax = 32;
const nameUnitsMax = 64;

/** Names come from the client: as many as a header should have, in characters that it may have. */
export function droppedHeader(names: readonly string[]): Record<string, string> {
  if (names.length === 0) return {};
  const shown = names.slice(0, droppedNamesMax).map((name) => {
    // Bytes have the replacement character for half of one, and that can be encoded.
    const whole = Buffer.from(name.slice(0, nameUnitsMax)).toString();
    return encodeURIComponent(whole);
  });
  return { 'x-svc-dropped-members': shown.join(', ') };
}

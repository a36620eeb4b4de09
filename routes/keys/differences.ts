// What a change of a key is told as.

/** The members that differ, as they were and as they are. */
export function differences(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): { before?: Record<string, unknown>; after?: Record<string, unknown> } {
  const names = Object.keys(after).filter((name) => {
    return JSON.stringify(before[name]) !== JSON.stringify(after[name]);
  });
  if (names.length === 0) return {};
  const pick = (from: Record<string, unknown>) =>
    Object.fromEntries(names.map((name) => [name, from[name]]));
  return { before: pick(before), after: pick(after) };
}

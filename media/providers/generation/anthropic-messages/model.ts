// What the name of a model tells about it: which way of thinking it knows, and whether its sampling
// can be chosen. Names without a version (of other vendors' servers too) are taken for early ones.

/** As in `claude-sonnet-4-5-20250929`, of which the date is no part; before 4 it stood in front. */
const version = /claude-[a-z]+-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/;

/** Decides by itself when to think, told an effort. */
export function thinksByItself(model: string): boolean {
  return isSince(model, 4, 6);
}

/** Refuses a temperature and `top_p` in one request. */
export function drawsByOneKnob(model: string): boolean {
  return isSince(model, 4, 1);
}

/** Refuses every temperature and the like, and every budget; knows one effort more. */
export function takesEffortAlone(model: string): boolean {
  return isSince(model, 4, 7);
}

function isSince(model: string, major: number, minor: number): boolean {
  const found = version.exec(model);
  if (found === null) return false;
  const [ofMajor, ofMinor] = [Number(found[1]), Number(found[2] ?? 0)];
  return ofMajor > major || (ofMajor === major && ofMinor >= minor);
}

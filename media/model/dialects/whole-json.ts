// Whether the arguments of a call have all come: formats whose items end one after the other cannot
// wait for the answer's end to know it.

/** False as long as more may follow. */
export function isWholeJson(text: string): boolean {
  if (!text.trimEnd().endsWith('}')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

// Messages of a client after its start, pure: `end` and `barge_in`, closed objects, nothing else.

export type ControlMessage = 'end' | 'barge_in';

/** Far longer than a control message can be: what is longer is not even parsed. */
const charactersMax = 1_024;

/** Null: malformed. */
export function readControl(text: string): ControlMessage | null {
  if (text.length > charactersMax) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const { type, ...others } = value as Record<string, unknown>;
  if (Object.keys(others).length > 0) return null;
  return type === 'end' || type === 'barge_in' ? type : null;
}

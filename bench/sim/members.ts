// Reading JSON of unknown shape: what every family does with a body before it knows what it is.

export type Members = Record<string, unknown>;

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects of an array; nothing when it is no array. */
export function membersOf(value: unknown): Members[] {
  return Array.isArray(value) ? value.filter(isMembers) : [];
}

export function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** A positive number, or null. */
export function positiveOf(value: unknown): number | null {
  return typeof value === 'number' && value >= 1 ? value : null;
}

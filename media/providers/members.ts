// JSON objects as unknown members: what arrives from a server is never trusted to have a shape.

export type Members = Record<string, unknown>;

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether it counts something; whole it need not be. */
export function isCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}

/** What is no count is 0. */
export function count(value: unknown): number {
  return isCount(value) ? Math.floor(value) : 0;
}

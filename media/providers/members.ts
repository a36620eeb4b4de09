// JSON objects as unknown members: what arrives from a server is never trusted to have a shape.

export type Members = Record<string, unknown>;

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

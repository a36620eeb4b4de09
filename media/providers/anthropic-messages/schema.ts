// What of JSON Schema this provider can keep an answer to (its structured outputs), and the form in
// which it wants it: objects closed, by a member of their own.
import { isMembers, type Members } from '../members.ts';

const formats: ReadonlySet<unknown> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
]);
/** Members that hold schemas: one, a list, or a map of them. */
const inner = {
  one: ['items'],
  list: ['anyOf', 'allOf'],
  map: ['properties', '$defs', 'definitions'],
};
const plainMembers: ReadonlySet<string> = new Set([
  '$schema',
  'type',
  'title',
  'description',
  'default',
  'enum',
  'const',
  'required',
  '$ref',
]);
/** Deeper is refused by the provider, and by us before. */
const depthMax = 64;

/** The schema as the provider takes it; null: it has a rule that the provider cannot keep. */
export function constrainedSchema(schema: unknown, depth = 0): Members | null {
  if (!isMembers(schema) || depth > depthMax) return null;
  const closed: Members = {};
  for (const [name, value] of Object.entries(schema)) {
    const kept = constrainedMember(name, value, depth);
    if (kept === undefined) return null;
    closed[name] = kept;
  }
  if (Object.keys(closed).length === 0) return null;
  if (closed.type === 'object' || closed.properties !== undefined) {
    closed.additionalProperties = false;
  }
  return closed;
}

/** Undefined: cannot be kept. */
function constrainedMember(name: string, value: unknown, depth: number): unknown {
  if (name === '$ref') return isRecursive(value) ? undefined : value;
  if (plainMembers.has(name)) return value;
  if (name === 'additionalProperties') return value === false ? value : undefined;
  if (name === 'format') return formats.has(value) ? value : undefined;
  if (name === 'minItems') return value === 0 || value === 1 ? value : undefined;
  if (inner.one.includes(name)) return constrainedSchema(value, depth + 1) ?? undefined;
  if (inner.list.includes(name) && Array.isArray(value)) {
    const parts = value.map((part) => constrainedSchema(part, depth + 1));
    return parts.includes(null) ? undefined : parts;
  }
  if (inner.map.includes(name) && isMembers(value)) {
    const entries = Object.entries(value).map(
      ([key, part]) => [key, constrainedSchema(part, depth + 1)] as const,
    );
    return entries.some(([, part]) => part === null) ? undefined : Object.fromEntries(entries);
  }
  return undefined;
}

/** A schema that refers to itself as a whole has no bound. */
function isRecursive(reference: unknown): boolean {
  return reference === '#';
}

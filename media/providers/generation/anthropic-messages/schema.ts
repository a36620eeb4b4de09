// What of JSON Schema this provider can keep an answer to (its structured outputs), and the form in
// which it wants it: objects closed, by a member of their own, and nothing that refers to itself.
import { isMembers, type Members, wordOf } from '../../../transport/members.ts';

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
  'required',
]);
/** The references that can be followed: escaped names are asked for in words. */
const referencePattern = /^#\/(\$defs|definitions)\/([^/~%]+)$/;
/** Deeper is refused by the provider, and by us before. */
const depthMax = 64;

/** The schema as the provider takes it; null: it has a rule that the provider cannot keep. */
export function constrainedSchema(schema: unknown): Members | null {
  const closed = closedSchema(schema, 0);
  return closed === null || isRecursive(closed) ? null : closed;
}

function closedSchema(schema: unknown, depth: number): Members | null {
  if (!isMembers(schema) || depth > depthMax) return null;
  const closed: Members = {};
  for (const [name, value] of Object.entries(schema)) {
    if (isBoundOfAll(name, value)) continue;
    const kept = constrainedMember(name, value, depth);
    if (kept === undefined) return null;
    closed[name] = kept;
  }
  if (Object.keys(closed).length === 0) return null;
  const { type, properties } = closed;
  const isObject = type === 'object' || (Array.isArray(type) && type.includes('object'));
  if (!isObject && properties === undefined) return closed;
  // Any object is meant: closed, it could only be an empty one.
  if (properties === undefined && closed.additionalProperties !== false) return null;
  closed.additionalProperties = false;
  return closed;
}

/** What zod writes of every integer: a rule that nothing breaks, where the provider takes none. */
function isBoundOfAll(name: string, value: unknown): boolean {
  if (typeof value !== 'number') return false;
  const isLow = name === 'minimum' && value <= Number.MIN_SAFE_INTEGER;
  return isLow || (name === 'maximum' && value >= Number.MAX_SAFE_INTEGER);
}

/** Undefined: cannot be kept. */
function constrainedMember(name: string, value: unknown, depth: number): unknown {
  if (plainMembers.has(name)) return value;
  if (name === '$ref') return referencePattern.test(wordOf(value)) ? value : undefined;
  if (name === 'const') return isPlain(value) ? value : undefined;
  if (name === 'enum') return Array.isArray(value) && value.every(isPlain) ? value : undefined;
  if (name === 'additionalProperties') return value === false ? value : undefined;
  if (name === 'format') return formats.has(value) ? value : undefined;
  if (name === 'minItems') return value === 0 || value === 1 ? value : undefined;
  if (inner.one.includes(name)) return closedSchema(value, depth + 1) ?? undefined;
  if (inner.list.includes(name) && Array.isArray(value)) {
    const parts = value.map((part) => closedSchema(part, depth + 1));
    return parts.includes(null) ? undefined : parts;
  }
  if (inner.map.includes(name) && isMembers(value)) {
    const entries = Object.entries(value).map(
      ([key, part]) => [key, closedSchema(part, depth + 1)] as const,
    );
    return entries.some(([, part]) => part === null) ? undefined : Object.fromEntries(entries);
  }
  return undefined;
}

function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

/** Whether a definition leads back to itself: what satisfies it has no bound. */
function isRecursive(schema: Members): boolean {
  const open = new Set<string>();
  const done = new Set<string>();
  const leadsBack = (reference: string): boolean => {
    if (done.has(reference) || open.has(reference)) return open.has(reference);
    open.add(reference);
    const found = referencesIn(definitionOf(schema, reference)).some(leadsBack);
    open.delete(reference);
    done.add(reference);
    return found;
  };
  return referencesIn(schema).some(leadsBack);
}

function definitionOf(schema: Members, reference: string): unknown {
  const [, list = '', name = ''] = referencePattern.exec(reference) ?? [];
  const definitions = schema[list];
  return isMembers(definitions) ? definitions[name] : undefined;
}

function referencesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isMembers(value)) return [];
  const own = typeof value.$ref === 'string' ? [value.$ref] : [];
  return own.concat(...Object.values(value).map(referencesIn));
}

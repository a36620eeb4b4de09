// What providers refuse in the declaration of a function, in the rules that they share: names, the
// top of a schema, patterns, lists of nothing.
import { isMembers, type Members } from './members.ts';

const combining = ['oneOf', 'anyOf', 'allOf'];
const barred = [...combining, 'enum', 'not'];
const inner = ['properties', 'patternProperties', '$defs', 'definitions'];

/** OpenAI's own, which checks with a library of Python. Null: it would take the schema. */
export function pythonFault(schema: unknown): string | null {
  // An empty one stands for no parameters.
  if (!isMembers(schema) || Object.keys(schema).length === 0) return null;
  if (schema.type !== 'object') return `schema must be a JSON Schema of 'type: "object"'`;
  if (barred.some((name) => schema[name] !== undefined)) {
    const names = barred.map((name) => `'${name}'`).join('/');
    return `schema must have type 'object' and not have ${names} at the top level.`;
  }
  for (const part of partsOf(schema)) {
    const odd = patternsOf(part).find((pattern) => /\\[pPkuz]\{?|\(\?<\w/.test(pattern));
    if (odd !== undefined) return `'${odd}' is not a 'regex'.`;
    if (part.type === 'array' && part.items === undefined) return 'array schema missing items.';
  }
  return null;
}

/** Anthropic's. */
export function combinationFault(schema: Members): string | null {
  const isCombined = combining.some((name) => schema[name] !== undefined);
  return isCombined
    ? 'input_schema does not support oneOf, allOf, or anyOf at the top level'
    : null;
}

/** Gemini's: a reference stands alone, and what is no RE2 does not compile. */
export function subsetFault(schema: unknown): string | null {
  if (!isMembers(schema)) return null;
  for (const part of partsOf(schema)) {
    if (part.$ref !== undefined && Object.keys(part).some((name) => !name.startsWith('$'))) {
      return 'a schema with `ref` set has no other fields';
    }
    if (patternsOf(part).some((pattern) => /\(\?[=!<]/.test(pattern))) {
      return 'invalid perl operator in `pattern`';
    }
  }
  return null;
}

function patternsOf({ pattern, patternProperties }: Members): string[] {
  const names = isMembers(patternProperties) ? Object.keys(patternProperties) : [];
  return typeof pattern === 'string' ? [pattern, ...names] : names;
}

/** The schema and all that stand in it. */
function partsOf(schema: Members): Members[] {
  const found = [schema];
  for (const part of found) {
    for (const name of inner) {
      if (isMembers(part[name])) found.push(...Object.values(part[name]).filter(isMembers));
    }
    if (isMembers(part.items)) found.push(part.items);
    for (const name of [...combining, 'prefixItems']) {
      const list = part[name];
      if (Array.isArray(list)) found.push(...list.filter(isMembers));
    }
  }
  return found;
}

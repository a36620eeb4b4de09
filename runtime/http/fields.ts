// Text fields (query, path parameters, multipart) as the values that their schema describes.
// Wire schemas hold no transforms, so numbers, booleans and lists are read from text here.
import type { GenericSchema } from 'valibot';
import { fieldProblem } from './validate.ts';

type Convert = (text: string) => unknown;
export type FieldReader = (fields: Record<string, string | string[]>) => Record<string, unknown>;

const numberPattern = /^-?\d{1,17}(\.\d{1,17})?$/;
const asText: Convert = (text) => text;
/** What does not convert stays text, and the schema says what is wrong with it. */
const asNumber: Convert = (text) => (numberPattern.test(text) ? Number(text) : text);
const asBoolean: Convert = (text) => (text === 'true' ? true : text === 'false' ? false : text);

/** Reads fields for an object schema; a repeated name becomes a list. */
export function createFieldReader(schema: GenericSchema): FieldReader {
  const converts = new Map<string, { convert: Convert; isList: boolean }>();
  for (const [name, member] of Object.entries(membersOf(schema))) {
    const bare = unwrapped(member);
    const isList = bare.type === 'array';
    const item = isList && isSchemaLike(bare.item) ? unwrapped(bare.item) : bare;
    converts.set(name, { convert: convertOf(item), isList });
  }
  return (fields) => {
    // A null prototype: a field named like a member of Object is only a field.
    const values: Record<string, unknown> = Object.create(null);
    for (const name of Object.keys(fields)) {
      const field = fields[name] ?? '';
      // No field of any route may have it, and PostgreSQL cannot store it.
      if (field.includes('\0')) throw fieldProblem(name, `'${name}' contains a NUL character.`);
      const { convert, isList } = converts.get(name) ?? { convert: asText, isList: false };
      if (Array.isArray(field)) values[name] = field.map(convert);
      else values[name] = isList ? [convert(field)] : convert(field);
    }
    return values;
  };
}

/** The query string as text fields; broken percent signs are taken literally (WHATWG URL). */
export function parseQuery(query: string): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = Object.create(null);
  if (query === '') return fields;
  for (const [name, value] of new URLSearchParams(query)) addField(fields, name, value);
  return fields;
}

/** Adds a field; a name seen before makes a list. */
export function addField(
  fields: Record<string, string | string[]>,
  name: string,
  value: string,
): void {
  const earlier = fields[name];
  if (earlier === undefined) fields[name] = value;
  else if (Array.isArray(earlier)) earlier.push(value);
  else fields[name] = [earlier, value];
}

/** A path segment as text. */
export function decodePathSegment(name: string, segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    throw fieldProblem(name, `The path segment '${name}' is not valid percent-encoded UTF-8.`);
  }
}

interface SchemaLike {
  type: string;
  wrapped?: unknown;
  item?: unknown;
  entries?: unknown;
}

function isSchemaLike(value: unknown): value is SchemaLike {
  return typeof value === 'object' && value !== null && 'type' in value;
}

/** Without optional, nullable and their kin. */
function unwrapped(schema: SchemaLike): SchemaLike {
  return isSchemaLike(schema.wrapped) ? unwrapped(schema.wrapped) : schema;
}

function membersOf(schema: GenericSchema): Record<string, SchemaLike> {
  const members: Record<string, SchemaLike> = {};
  const entries = unwrapped(schema).entries;
  if (typeof entries !== 'object' || entries === null) return members;
  for (const [name, member] of Object.entries(entries)) {
    if (isSchemaLike(member)) members[name] = member;
  }
  return members;
}

function convertOf(schema: SchemaLike): Convert {
  if (schema.type === 'number') return asNumber;
  return schema.type === 'boolean' ? asBoolean : asText;
}

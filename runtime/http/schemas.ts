// JSON Schemas (draft 2020-12) of everything on the wire, converted in one pass. What
// stands in more than one place becomes a component. So does a form of a variant that has a title;
// everything else is written in place.
import { toJsonSchemaDefs } from '@valibot/to-json-schema';
import { type GenericSchema, getTitle } from 'valibot';

export type JsonSchema = Record<string, unknown>;

export interface SchemaBook {
  /** The schema in place, or a reference to its component. */
  schemaOf(schema: GenericSchema): JsonSchema;
  components: Record<string, JsonSchema>;
}

/** Types that are worth a name of their own. */
const nameable = new Set([
  'object',
  'strict_object',
  'loose_object',
  'object_with_rest',
  'variant',
  'union',
]);

/** Converts all schemas, of a transform what goes in; `name` names a component that has no title.
 * Throws on what JSON Schema cannot say (checks, trims), naming where it stands. */
export function createSchemaBook(
  roots: readonly { name: string; schema: GenericSchema; taken?: boolean }[],
): SchemaBook {
  // The members of these are taken one by one, so a name for the whole would name nothing.
  const taken = new Set(roots.filter((root) => root.taken).map((root) => root.schema));
  const found = new Map<object, { schema: GenericSchema; name: string; count: number }>();
  for (const { name, schema } of roots) collect(schema, name, found);
  const names = new Map<object, string>();
  const components: Record<string, GenericSchema> = {};
  for (const { schema, name, count } of found.values()) {
    if (count < 2 || taken.has(schema) || !nameable.has(schema.type)) continue;
    const id = freeName(pascalCase(getTitle(schema) ?? name), components);
    names.set(schema, id);
    components[id] = schema;
  }
  const inPlace = new Map<object, string>();
  const definitions = { ...components };
  for (const { name, schema } of roots) {
    if (names.has(schema) || inPlace.has(schema)) continue;
    const id = `in-place.${inPlace.size}.${name}`;
    inPlace.set(schema, id);
    definitions[id] = schema;
  }
  const converted = convert(definitions);
  const idsInPlace = new Set(inPlace.values());
  return {
    components: Object.fromEntries(Object.entries(converted).filter(([id]) => !idsInPlace.has(id))),
    schemaOf(schema) {
      const component = names.get(schema);
      if (component !== undefined) return reference(component);
      return converted[inPlace.get(schema) ?? ''] ?? {};
    },
  };
}

function convert(definitions: Record<string, GenericSchema>): Record<string, JsonSchema> {
  const options = {
    target: 'draft-2020-12',
    typeMode: 'input',
    overrideRef: ({ referenceId }: { referenceId: string }) => reference(referenceId).$ref,
  } as const;
  return JSON.parse(JSON.stringify(toJsonSchemaDefs(definitions, options)));
}

function reference(id: string): { $ref: string } {
  return { $ref: `#/components/schemas/${id}` };
}

type Found = Map<object, { schema: GenericSchema; name: string; count: number }>;

/** Walks a schema's own structure; what is seen again is counted, not entered again. */
function collect(value: unknown, name: string, found: Found): void {
  if (!isSchema(value)) return;
  const earlier = found.get(value);
  if (earlier !== undefined) {
    earlier.count += 1;
    return;
  }
  found.set(value, { schema: value, name, count: 1 });
  const parts = value as unknown as Record<string, unknown>;
  const { entries, options, items, wrapped, item, rest } = parts;
  for (const list of [options, items]) {
    if (Array.isArray(list)) for (const part of list) collect(part, name, found);
  }
  if (value.type === 'variant' && Array.isArray(options)) {
    // Counted as if each stood in a second place.
    for (const part of options) if (isTitled(part)) collect(part, name, found);
  }
  for (const part of [wrapped, item, rest, parts.value]) collect(part, name, found);
  if (typeof entries !== 'object' || entries === null) return;
  for (const [key, part] of Object.entries(entries)) collect(part, `${name} ${key}`, found);
}

function isSchema(value: unknown): value is GenericSchema {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'schema';
}

function isTitled(value: unknown): boolean {
  return isSchema(value) && getTitle(value) !== undefined;
}

function pascalCase(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

function freeName(wanted: string, taken: Record<string, unknown>): string {
  let name = wanted;
  for (let count = 2; name in taken; count += 1) name = `${wanted}${count}`;
  return name;
}

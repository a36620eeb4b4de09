// Schemas of generateContent: a subset of OpenAPI with type names in capitals, whose parser refuses
// every keyword that it does not know. That is where translated requests fail most.
import { isMembers, type Members } from '../members.ts';

const keywords = new Set([
  ...['type', 'format', 'title', 'description', 'nullable', 'enum', 'items', 'prefixItems'],
  ...['properties', 'required', 'propertyOrdering', 'anyOf', 'default', 'example', 'pattern'],
  ...['minItems', 'maxItems', 'minProperties', 'maxProperties', 'minLength', 'maxLength'],
  ...['minimum', 'maximum'],
]);
const typeNames = /^(string|number|integer|boolean|array|object|null|type_unspecified)$/i;

/** The parser's message, or null. `at` is the path of the field as it names it. */
export function schemaRefusal(schema: unknown, at: string): string | null {
  if (!isMembers(schema)) return null;
  for (const [name, value] of Object.entries(schema)) {
    if (!keywords.has(name)) return unknownName(name, at);
    if (name === 'type' && Array.isArray(value)) {
      const rule = 'Proto field is not repeating, cannot start list.';
      return `Invalid JSON payload received. Unknown name "type" at '${at}': ${rule}`;
    }
    if (name === 'type' && !typeNames.test(String(value))) {
      return `Invalid value at '${at}.type' (type.googleapis.com/Type), "${value}"`;
    }
    const inner = innerRefusal(name, value, at);
    if (inner !== null) return inner;
  }
  return null;
}

export function unknownName(name: string, at: string): string {
  const place = at === '' ? '' : ` at '${at}'`;
  return `Invalid JSON payload received. Unknown name "${name}"${place}: Cannot find field.`;
}

function innerRefusal(name: string, value: unknown, at: string): string | null {
  if (name === 'items') return schemaRefusal(value, `${at}.items`);
  const many = name === 'properties' && isMembers(value) ? Object.entries(value) : [];
  const branches = name === 'anyOf' && Array.isArray(value) ? [...value.entries()] : [];
  for (const [key, schema] of many) {
    const found = schemaRefusal(schema, `${at}.properties[${key}].value`);
    if (found !== null) return found;
  }
  for (const [index, schema] of branches) {
    const found = schemaRefusal(schema, `${at}.any_of[${index}]`);
    if (found !== null) return found;
  }
  return null;
}

/** The same as JSON Schema: type names in small letters. */
export function asJsonSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(asJsonSchema);
  if (!isMembers(schema)) return schema;
  const made: Members = {};
  for (const [name, value] of Object.entries(schema)) {
    const isType = name === 'type' && typeof value === 'string';
    made[name] = isType ? value.toLowerCase() : asJsonSchema(value);
  }
  return made;
}

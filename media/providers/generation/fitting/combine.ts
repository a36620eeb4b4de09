// Schemas of objects put together where a provider takes no combination of them. What comes out
// allows all that was allowed, and perhaps more: the client judges its arguments itself.
import { isMembers, type Members } from '../../../transport/members.ts';

/** What satisfies both satisfies it. Where both say something, the second is the nearer one. */
export function both(first: Members, second: Members): Members {
  const merged: Members = { ...first, ...second };
  if (isMembers(first.properties) && isMembers(second.properties)) {
    const properties: Members = { ...first.properties };
    for (const [name, schema] of Object.entries(second.properties)) {
      const other = Object.hasOwn(properties, name) ? properties[name] : undefined;
      const isPair = isMembers(other) && isMembers(schema);
      define(properties, name, isPair ? both(other, schema) : schema);
    }
    merged.properties = properties;
  }
  if (Array.isArray(first.required) && Array.isArray(second.required)) {
    merged.required = [...new Set<unknown>([...first.required, ...second.required])];
  }
  const isClosed = [first, second].some(({ additionalProperties: rest }) => rest === false);
  if (isClosed) merged.additionalProperties = false;
  return merged;
}

/**
 * An object that satisfies one of the schemas. A property that only some of them name keeps what
 * those say of it: the others do not mean it.
 */
export function either(schemas: readonly Members[]): Members {
  const [first = {}, ...others] = schemas;
  if (others.length === 0) return first;
  const variants = new Map<string, unknown[]>();
  for (const { properties } of schemas) {
    if (!isMembers(properties)) continue;
    for (const [name, schema] of Object.entries(properties)) {
      const list = variants.get(name);
      if (list === undefined) variants.set(name, [schema]);
      else list.push(schema);
    }
  }
  const properties: Members = {};
  for (const [name, list] of variants) define(properties, name, oneSchema(list));
  const united: Members = { ...common(schemas), type: 'object', properties };
  const required = requiredByAll(schemas);
  if (required.length > 0) united.required = required;
  return united;
}

/** What a schema says of a property in each of its variants, once. */
function oneSchema(variants: readonly unknown[]): unknown {
  const distinct = [...new Map(variants.map((each) => [JSON.stringify(each), each])).values()];
  if (distinct.length === 1) return distinct[0];
  const values = distinct.map(valuesOf);
  if (values.every((list) => list !== null)) {
    const { type, description } = common(distinct.filter(isMembers));
    return {
      ...(type === undefined ? {} : { type }),
      ...(description === undefined ? {} : { description }),
      enum: [...new Set(values.flat())],
    };
  }
  return { anyOf: distinct };
}

/** All that may stand there, as the property that tells variants apart says. */
function valuesOf(schema: unknown): unknown[] | null {
  if (!isMembers(schema)) return null;
  if (Array.isArray(schema.enum)) return schema.enum as unknown[];
  return schema.const === undefined ? null : [schema.const];
}

/** What all of them say alike; properties and what is required are looked at apart. */
function common(schemas: readonly Members[]): Members {
  const [first = {}, ...others] = schemas;
  const same: Members = {};
  for (const [name, value] of Object.entries(first)) {
    if (name === 'properties' || name === 'required') continue;
    const text = JSON.stringify(value);
    if (others.every((other) => JSON.stringify(other[name]) === text)) same[name] = value;
  }
  return same;
}

function requiredByAll(schemas: readonly Members[]): unknown[] {
  const lists = schemas.map(({ required }) => new Set<unknown>(arrayOf(required)));
  const [first, ...others] = lists;
  return [...(first ?? [])].filter((name) => others.every((list) => list.has(name)));
}

function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Also a property that is called `__proto__`. */
export function define(members: Members, name: string, value: unknown): void {
  if (name !== '__proto__') members[name] = value;
  else {
    Object.defineProperty(members, name, {
      value,
      configurable: true,
      enumerable: true,
      writable: true,
    });
  }
}

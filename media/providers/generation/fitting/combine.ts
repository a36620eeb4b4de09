// Schemas of objects put together where a provider takes no combination of them. What comes out
// allows all that was allowed, and perhaps more: the client judges its arguments itself.
import { isMembers, type Members } from '../../../transport/members.ts';

/** What satisfies both satisfies it. Where both say something, the second is the nearer one. */
export function both(first: Members, second: Members): Members {
  return all([first, second]);
}

/** What satisfies all satisfies it: the last is the nearest one. Each is looked at once. */
export function all(schemas: readonly Members[]): Members {
  const merged: Members = {};
  const properties = new Map<string, unknown[]>();
  const required = new Set<unknown>();
  for (const schema of schemas) {
    for (const name of Object.keys(schema)) define(merged, name, schema[name]);
    if (isMembers(schema.properties)) gather(properties, schema.properties);
    for (const name of arrayOf(schema.required)) required.add(name);
  }
  if (properties.size > 0) {
    const told: Members = {};
    for (const [name, list] of properties) define(told, name, together(list));
    merged.properties = told;
  }
  if (required.size > 0) merged.required = [...required];
  if (schemas.some(isClosed)) merged.additionalProperties = false;
  return merged;
}

/** What all of them say of one property. One that is no schema stands for itself. */
function together(list: readonly unknown[]): unknown {
  const schemas = list.slice(list.findLastIndex((one) => !isMembers(one)) + 1);
  return schemas.length > 1 ? all(schemas as Members[]) : list.at(-1);
}

function isClosed({ additionalProperties: rest }: Members): boolean {
  return rest === false;
}

/**
 * An object that satisfies the schema, and one of the others besides. A property that only some of
 * those name keeps what they say of it: the others do not mean it.
 */
export function either(base: Members, branches: readonly Members[]): Members {
  const variants = new Map<string, unknown[]>();
  for (const { properties } of branches) {
    if (isMembers(properties)) gather(variants, properties);
  }
  const properties: Members = isMembers(base.properties) ? { ...base.properties } : {};
  for (const [name, list] of variants) {
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const told = oneSchema(list);
    if (!isMembers(own) || !isMembers(told)) define(properties, name, told);
    // Else there is a branch that allows all of it.
    else if (list.length === branches.length) define(properties, name, both(own, told));
  }
  const united: Members = { ...common(base, branches), type: 'object', properties };
  const required = [...new Set([...arrayOf(base.required), ...requiredByAll(branches)])];
  if (required.length > 0) united.required = required;
  return united;
}

function gather(lists: Map<string, unknown[]>, properties: Members): void {
  for (const [name, schema] of Object.entries(properties)) {
    const list = lists.get(name);
    if (list === undefined) lists.set(name, [schema]);
    else list.push(schema);
  }
}

/** What a schema says of a property in each of its variants, once. */
function oneSchema(variants: readonly unknown[]): unknown {
  const distinct = [...new Map(variants.map((each) => [JSON.stringify(each), each])).values()];
  if (distinct.length === 1) return distinct[0];
  const values = distinct.map(valuesOf);
  if (values.every((list) => list !== null)) {
    const { type, description } = common({}, distinct.filter(isMembers));
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

/** What holds in each branch beside the base; properties and what is required are apart. */
function common(base: Members, branches: readonly Members[]): Members {
  const { properties: _properties, required: _required, ...same } = base;
  const said = saidBy(branches);
  for (const [name, { value, text, count }] of said) {
    if (name === 'additionalProperties' && isClosed(base)) continue;
    const isEverywhere = count === branches.length || JSON.stringify(base[name]) === text;
    if (text !== null && isEverywhere) define(same, name, value);
    else delete same[name];
  }
  return same;
}

interface Saying {
  value: unknown;
  /** Null: they differ. */
  text: string | null;
  count: number;
}

/** What the schemas say, each of which is looked at once. */
function saidBy(schemas: readonly Members[]): Map<string, Saying> {
  const said = new Map<string, Saying>();
  for (const schema of schemas) {
    for (const [name, value] of Object.entries(schema)) {
      if (name === 'properties' || name === 'required') continue;
      const text = JSON.stringify(value);
      const known = said.get(name);
      if (known === undefined) said.set(name, { value, text, count: 1 });
      else {
        known.count += 1;
        if (known.text !== text) known.text = null;
      }
    }
  }
  return said;
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

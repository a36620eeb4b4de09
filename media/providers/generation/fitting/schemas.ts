// A schema as a provider takes it. Clients write what JSON Schema allows, in any of its drafts;
// providers refuse a whole request for one keyword. What is rewritten allows all that was allowed;
// what cannot be said is left out. A schema that has nothing of the kind is returned as it is.
import { dataKeywords, mapKeywords } from '../../../model/schema-keywords.ts';
import { isMembers, type Members } from '../../../transport/members.ts';
import { both, define, either } from './combine.ts';
import { isPlain } from './glance.ts';
import { compiles } from './patterns.ts';
import { referred } from './references.ts';
import type { SchemaRules } from './rules.ts';
import { inSubset, isOutside } from './subset.ts';

/** Parameters of a function: an object, without a combination at its top. */
export function fitParameters(schema: Members, rules: SchemaRules): Members {
  return fitSchema(objectRoot(schema), rules);
}

/** Any schema, such as of an answer. */
export function fitSchema(schema: Members, rules: SchemaRules): Members {
  if (isPlain(schema, rules)) return schema;
  return new SchemaFitter(rules, schema).fit(schema);
}

const combining = ['allOf', 'anyOf', 'oneOf'] as const;
/** They say nothing of the members of an object. */
const barred = ['const', 'enum', 'not'] as const;
/** A root that refers to itself has no end. */
const hopsMax = 8;

/** The schema with its combinations put together, where they stand at its top. */
function objectRoot(schema: Members): Members {
  let root = schema;
  for (let hops = 0; root.$ref !== undefined && hops < hopsMax; hops += 1) {
    root = resolved(schema, root);
  }
  const isPlain = ![...combining, ...barred].some((name) => root[name] !== undefined);
  if (isPlain) return root;
  const { anyOf, oneOf, ...rest } = asOne(schema, root);
  for (const name of barred) delete rest[name];
  let united = rest;
  for (const list of [anyOf, oneOf]) {
    if (!Array.isArray(list)) continue;
    const branches = list
      .map((branch) => branchOf(schema, branch))
      .filter((branch) => branch !== null);
    const base = united;
    if (branches.length > 0) united = either(branches.map((branch) => both(base, branch)));
  }
  return united;
}

/** With what its reference says. */
function resolved(root: Members, schema: Members): Members {
  if (schema.$ref === undefined) return schema;
  const { $ref, ...rest } = schema;
  return both(referred(root, $ref) ?? {}, rest);
}

/** With what stands in its `allOf`. */
function asOne(root: Members, schema: Members): Members {
  const { allOf: parts, ...rest } = schema;
  if (!Array.isArray(parts)) return rest;
  return parts
    .filter(isMembers)
    .map((part) => resolved(root, part))
    .reduce(both, rest);
}

/** Null: no object can satisfy it. */
function branchOf(root: Members, branch: unknown): Members | null {
  if (!isMembers(branch)) return null;
  const schema = asOne(root, resolved(root, branch));
  const { type } = schema;
  if (type === undefined) return schema;
  return type === 'object' || (Array.isArray(type) && type.includes('object')) ? schema : null;
}

/** Schemas inside of references that are written out, of one tool: the rest is told by its type. */
const inlinedMax = 2_000;

/** Copies what it changes, and what that stands in. */
class SchemaFitter {
  readonly #rules: SchemaRules;
  readonly #root: Members;
  /** References that are being written out: one that is met again in itself has no end. */
  readonly #open = new Set<unknown>();
  #inlined = 0;

  constructor(rules: SchemaRules, root: Members) {
    this.#rules = rules;
    this.#root = root;
  }

  /** The schema itself where nothing is to be changed. */
  fit(schema: Members): Members {
    if (this.#open.size > 0) this.#inlined += 1;
    let copy: Members | null = null;
    let isForeign = false;
    let isUnsaid = false;
    for (const name in schema) {
      const member = schema[name];
      if (name === 'type') isUnsaid ||= isList(member);
      if (this.#rules.isSubset) {
        if (name === '$ref') return this.#withoutReference(schema);
        if (name === 'allOf') return this.#asOne(schema);
        isForeign ||= isOutside(name, member);
      }
      const fitted = this.#member(name, member);
      if (fitted === member) continue;
      copy ??= { ...schema };
      if (fitted === undefined) delete copy[name];
      else copy[name] = fitted;
    }
    const told = withItems(copy ?? schema, isUnsaid && this.#rules.needsItems);
    return isForeign ? inSubset(told) : told;
  }

  /** Undefined: it is left out. */
  #member(name: string, member: unknown): unknown {
    if (typeof member !== 'object' || member === null) {
      if (name === 'pattern') return this.#takes(member) ? member : undefined;
      // Draft 4 had switches here.
      const isSwitch = typeof member === 'boolean';
      return isSwitch && (name === 'required' || name.startsWith('exclusive')) ? undefined : member;
    }
    if (dataKeywords.has(name)) return member;
    if (mapKeywords.has(name)) {
      if (Array.isArray(member)) return member;
      if (this.#rules.isSubset && (name === '$defs' || name === 'definitions')) return undefined;
      return this.#map(member as Members, name === 'patternProperties');
    }
    if (Array.isArray(member)) return this.#list(member);
    return this.fit(member as Members);
  }

  #takes(pattern: unknown): boolean {
    return typeof pattern !== 'string' || compiles(pattern, this.#rules.patterns);
  }

  #map(schemas: Members, arePatterns: boolean): Members {
    let copy: Members | null = null;
    for (const name in schemas) {
      const member = schemas[name];
      const isTaken = !arePatterns || this.#takes(name);
      const fitted = isTaken && isMembers(member) ? this.fit(member) : member;
      if (fitted === member && isTaken) continue;
      copy ??= { ...schemas };
      if (isTaken) define(copy, name, fitted);
      else delete copy[name];
    }
    return copy ?? schemas;
  }

  #list(schemas: unknown[]): unknown[] {
    let copy: unknown[] | null = null;
    for (let index = 0; index < schemas.length; index += 1) {
      const member = schemas[index];
      if (!isMembers(member)) continue;
      const fitted = this.fit(member);
      if (fitted === member) continue;
      copy ??= [...schemas];
      copy[index] = fitted;
    }
    return copy ?? schemas;
  }

  #withoutReference({ $ref, ...rest }: Members): Members {
    const schema = referred(this.#root, $ref);
    if (schema === null) return this.fit(rest);
    if (this.#open.has($ref) || this.#inlined > inlinedMax) {
      const { type, description } = schema;
      return this.fit({
        ...(typeof type === 'string' ? { type } : {}),
        ...(typeof description === 'string' ? { description } : {}),
        ...rest,
      });
    }
    this.#open.add($ref);
    const fitted = this.fit(both(schema, rest));
    this.#open.delete($ref);
    return fitted;
  }

  /** What stands in `allOf` may be references. */
  #asOne({ allOf: parts, ...rest }: Members): Members {
    const schemas = Array.isArray(parts) ? parts.filter(isMembers) : [];
    return this.fit(schemas.map((schema) => this.fit(schema)).reduce(both, rest));
  }
}

function isList(type: unknown): boolean {
  return type === 'array' || (Array.isArray(type) && type.includes('array'));
}

/** `isUnsaid`: it is a list, and must say of what. */
function withItems(schema: Members, isUnsaid: boolean): Members {
  const { items } = schema;
  if (Array.isArray(items)) {
    // As drafts before 2020-12 wrote it.
    const { additionalItems: rest = {}, ...others } = schema;
    return { ...others, prefixItems: items, items: rest };
  }
  return isUnsaid && items === undefined ? { ...schema, items: {} } : schema;
}

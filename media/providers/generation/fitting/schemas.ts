// A schema as a provider takes it. Clients write what JSON Schema allows, in any of its drafts;
// providers refuse a whole request for one keyword. What is rewritten allows all that was allowed;
// what cannot be said is left out. A schema that has nothing of the kind is returned as it is.
import { dataKeywords, mapKeywords } from '../../../model/schema-keywords.ts';
import { isMembers, type Members } from '../../../transport/members.ts';
import { Allowance } from './allowance.ts';
import { all, both, define } from './combine.ts';
import { isPlain } from './glance.ts';
import { objectRoot } from './object-root.ts';
import { compiles } from './patterns.ts';
import { referred } from './references.ts';
import type { SchemaRules } from './rules.ts';
import { inSubset, isOutside } from './subset.ts';

/**
 * Parameters of a function: an object, without a combination at its top. `allowance`: how much may
 * be written out, of this schema and those before it.
 */
export function fitParameters(
  schema: Members,
  rules: SchemaRules,
  allowance = new Allowance(schema),
): Members {
  return fitSchema(objectRoot(schema, allowance), rules, allowance);
}

/** Any schema, such as of an answer. */
export function fitSchema(
  schema: Members,
  rules: SchemaRules,
  allowance = new Allowance(schema),
): Members {
  if (isPlain(schema, rules)) return schema;
  return new SchemaFitter(rules, schema, allowance).fit(schema);
}

/** Schemas that are written out within each other: deeper ones are told by their types. */
const openMax = 32;

/** Copies what it changes, and what that stands in. */
class SchemaFitter {
  readonly #rules: SchemaRules;
  readonly #root: Members;
  readonly #allowance: Allowance;
  /** References that are being written out: one that is met again in itself has no end. */
  readonly #open = new Set<unknown>();

  constructor(rules: SchemaRules, root: Members, allowance: Allowance) {
    this.#rules = rules;
    this.#root = root;
    this.#allowance = allowance;
  }

  /** The schema itself where nothing is to be changed. */
  fit(schema: Members): Members {
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
    const isEndless = this.#open.has($ref) || this.#open.size >= openMax;
    if (isEndless || !this.#allowance.spend(schema)) {
      const { type, description } = schema;
      return this.fit({
        ...(isShort(type) ? { type } : {}),
        ...(isShort(description) ? { description } : {}),
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
    return this.fit(all([rest, ...schemas.map((schema) => this.fit(schema))]));
  }
}

/** What may stand there for each reference, beyond the allowance. */
const shortLengthMax = 100;

function isShort(said: unknown): boolean {
  return typeof said === 'string' && said.length <= shortLengthMax;
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

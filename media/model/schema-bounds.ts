// Copies a client's JSON Schema within bounds, without the keywords that reach outside of it:
// identifiers (they would register in the compiler) and `$async`. Remote references are refused.
import { dataKeywords, mapKeywords } from './schema-keywords.ts';

export type CleanedSchema =
  | { ok: true; schema: unknown; text: string }
  | { ok: false; reason: string };

const charactersMax = 128 * 1024;
const depthMax = 64;
const nodesMax = 10_000;

const droppedKeywords: ReadonlySet<string> = new Set([
  '$async',
  '$comment',
  '$id',
  '$schema',
  '__proto__',
  'id',
]);

class Refusal extends Error {}

/**
 * A copy that may be compiled, with its JSON text as key for a cache. `patterns`: all of them, or
 * those that this engine compiles.
 */
export function cleanSchema(
  schema: unknown,
  patterns: 'all' | 'compilable' = 'all',
): CleanedSchema {
  try {
    const copy = new Cleaner(patterns === 'compilable').clean(schema, 0);
    const text = JSON.stringify(copy);
    if (text.length > charactersMax) return { ok: false, reason: 'it is too large' };
    return { ok: true, schema: copy, text };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, reason: error.message };
    throw error;
  }
}

class Cleaner {
  readonly #compilableOnly: boolean;
  #nodes = 0;

  constructor(compilableOnly: boolean) {
    this.#compilableOnly = compilableOnly;
  }

  clean(value: unknown, depth: number): unknown {
    this.#count(depth);
    if (Array.isArray(value)) return value.map((item) => this.clean(item, depth + 1));
    if (!isMembers(value)) return value;
    const copy: Record<string, unknown> = {};
    for (const name of Object.keys(value)) {
      if (droppedKeywords.has(name)) continue;
      const member = value[name];
      if (name === 'pattern' && this.#isOdd(member)) continue;
      if (name === '$ref' || name === '$dynamicRef') assertLocal(member);
      if (name === 'patternProperties' && isMembers(member)) {
        const names = Object.keys(member).filter((pattern) => !this.#isOdd(pattern));
        const kept = Object.fromEntries(names.map((pattern) => [pattern, member[pattern]]));
        copy[name] = this.#map(kept, depth + 1);
      } else if (mapKeywords.has(name) && isMembers(member))
        copy[name] = this.#map(member, depth + 1);
      else if (dataKeywords.has(name)) copy[name] = this.#data(member, depth + 1);
      else copy[name] = this.clean(member, depth + 1);
    }
    return copy;
  }

  #isOdd(pattern: unknown): boolean {
    return this.#compilableOnly && typeof pattern === 'string' && !compiles(pattern);
  }

  #map(members: Record<string, unknown>, depth: number): Record<string, unknown> {
    this.#count(depth);
    const names = Object.keys(members).filter((name) => name !== '__proto__');
    return Object.fromEntries(names.map((name) => [name, this.clean(members[name], depth + 1)]));
  }

  #data(value: unknown, depth: number): unknown {
    this.#count(depth);
    const inner = Array.isArray(value) ? value : isMembers(value) ? Object.values(value) : [];
    for (const item of inner) this.#data(item, depth + 1);
    return value;
  }

  #count(depth: number): void {
    this.#nodes += 1;
    if (depth > depthMax) throw new Refusal('it is nested too deeply');
    if (this.#nodes > nodesMax) throw new Refusal('it is too large');
  }
}

/** As the compiler of schemas does: with the flag `u`. */
function compiles(pattern: string): boolean {
  try {
    new RegExp(pattern, 'u');
    return true;
  } catch {
    return false;
  }
}

function assertLocal(reference: unknown): void {
  if (typeof reference !== 'string' || !reference.startsWith('#')) {
    throw new Refusal('references must stay inside the schema');
  }
}

function isMembers(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

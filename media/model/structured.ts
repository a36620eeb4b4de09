// Structured output: does the answer's text satisfy the format asked for? Schemas come from clients
// and texts from models: both run under a time limit, and on a thread of the pool where they may
// come near it. A pattern that backtracks for ever is a refusal, not a stuck shard.
import { createContext, Script } from 'node:vm';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { fieldProblem } from '../../runtime/http/validate.ts';
import type { Problem } from '../../runtime/problem.ts';
import type { OutputFormat } from './request.ts';
import { cleanSchema } from './schema-bounds.ts';

const timeLimitMs = 200;
const cachedSchemasMax = 256;
const options = { strict: false, validateFormats: false, logger: false } as const;
let metaSchema: Ajv2020 | null = null;
const cache = new Map<string, ValidateFunction>();

/** Compiling costs about 3 µs a character. */
const lightCharactersMax = 1_000;
/** What takes more time than the schema and the value are long. */
const heavyKeywords = /"(?:pattern|patternProperties|uniqueItems|\$ref|\$dynamicRef)":/;

/** Whether compiling or checking this may hold a thread up: it belongs on the pool then. */
export function isHeavyFormat(format: OutputFormat): boolean {
  if (format.type !== 'json_schema') return false;
  const cleaned = cleanSchema(format.schema);
  return cleaned.ok && isHeavy(cleaned.text);
}

function isHeavy(text: string): boolean {
  return text.length > lightCharactersMax || heavyKeywords.test(text);
}

/**
 * Refuses a schema that is too large, refers to other documents or, if it is not heavy, is invalid.
 * @throws Problem `invalid_request` with `param` as the path.
 */
export function assertOutputFormat(format: OutputFormat, param: string): void {
  if (format.type !== 'json_schema') return;
  const cleaned = cleanSchema(format.schema);
  if (!cleaned.ok) throw fieldProblem(param, `The JSON Schema is refused: ${cleaned.reason}.`);
  if (!isHeavy(cleaned.text) && compile(cleaned.schema, cleaned.text) === null) {
    throw invalidSchema(param);
  }
}

/** The 400 for a schema that cannot be compiled. */
export function invalidSchema(param: string): Problem {
  return fieldProblem(param, 'The JSON Schema is not valid (draft 2020-12).');
}

/** Whether the schema of a format can be compiled. */
export function isValidFormat(format: OutputFormat): boolean {
  if (format.type !== 'json_schema') return true;
  const cleaned = cleanSchema(format.schema);
  return cleaned.ok && compile(cleaned.schema, cleaned.text) !== null;
}

/** Whether an answer satisfies its format; plain text always does. */
export function satisfiesOutputFormat(format: OutputFormat, text: string): boolean {
  if (format.type === 'text') return true;
  const value = parse(text);
  if (value === undefined) return false;
  if (format.type === 'json_object') {
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  }
  const cleaned = cleanSchema(format.schema);
  if (!cleaned.ok) return false;
  const validate = compile(cleaned.schema, cleaned.text);
  if (validate === null) return false;
  return bounded(cleaned.text, () => validate(value) === true) ?? false;
}

/** Null: not a valid schema, or it takes too long. The oldest of the cache makes room. */
function compile(schema: unknown, text: string): ValidateFunction | null {
  const known = cache.get(text);
  if (known !== undefined) {
    cache.delete(text);
    cache.set(text, known);
    return known;
  }
  // An instance each: what a schema registers must not be seen by another account's schema. Only
  // the compiled meta-schema is common: compiling it costs more than thirty client schemas.
  metaSchema ??= compiledMetaSchema();
  const meta = metaSchema;
  const validate = bounded(text, () => {
    if (meta.validateSchema(schema as object) !== true) return null;
    const ajv = new Ajv2020({ ...options, meta: false, validateSchema: false });
    return ajv.compile(schema as object);
  });
  if (validate === null) return null;
  cache.set(text, validate);
  const oldest = cache.keys().next();
  if (cache.size > cachedSchemasMax && !oldest.done) cache.delete(oldest.value);
  return validate;
}

/** Made on first use and outside of the time limit: about 15 ms. */
function compiledMetaSchema(): Ajv2020 {
  const ajv = new Ajv2020(options);
  // A promise only for an asynchronous meta-schema, which this is not.
  void ajv.validateSchema({});
  return ajv;
}

interface Sandbox {
  run: (() => unknown) | null;
}
const sandbox: Sandbox = { run: null };
const context = createContext(sandbox);
const script = new Script('run()');

/**
 * The limit is one of wall-clock time: on a busy machine, or beside a collection of garbage, it
 * strikes what takes a millisecond, too. So it holds only for schemas that may need it. Null:
 * failed.
 */
function bounded<T>(text: string, work: () => T): T | null {
  if (isHeavy(text)) return withinTimeLimit(work);
  try {
    return work();
  } catch {
    return null;
  }
}

/** The limit of node:vm also interrupts our own functions that are called inside. Null: failed. */
function withinTimeLimit<T>(work: () => T): T | null {
  sandbox.run = work;
  try {
    return script.runInContext(context, { timeout: timeLimitMs }) as T;
  } catch {
    return null;
  } finally {
    sandbox.run = null;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

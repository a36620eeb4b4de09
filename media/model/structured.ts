// Structured output: does the answer's text satisfy the format asked for? Schemas come from clients
// and texts from models: both run under a time limit, and on a thread of the pool where they may
// come near it. A pattern that backtracks for ever is a refusal, not a stuck shard.
import { createContext, Script } from 'node:vm';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { fieldProblem } from '../../runtime/http/validate.ts';
import type { Problem } from '../../runtime/problem.ts';
import { threadCpuMs } from '../../runtime/work/cpu-time.ts';
import type { OutputFormat } from './request.ts';
import { cleanSchema } from './schema-bounds.ts';

const cachedSchemasMax = 256;
/** Of all of them: compiled they take some 50 bytes a character, of the 512 MiB of a thread. */
const cachedCharactersMax = 1_048_576;
/** Optimizing the code takes as long again as making it, and what it checks is small. */
const code = { optimize: false } as const;
const options = { strict: false, validateFormats: false, logger: false, code } as const;
/** CPU time of a pool thread for a client's JSON Schema: so long, and more by its length. */
const limits = {
  /** Many times of what an honest pattern takes, and all that one takes that never ends. */
  msMin: 200,
  /** Five times of what the largest schema (128 KiB) takes: 10 µs a character. */
  compileMicrosPerCharacter: 50,
  /** The first check also pays for the engine's own compiling: 5 µs a character. */
  checkMicrosPerCharacter: 40,
  /**
   * Whoever had so much of it and is not done never will be. Honest work takes a fifth, and twice
   * that on a slow processor that it shares.
   */
  usedShare: 0.7,
  /** Of wall-clock time, where others have the processor: 6 s in all for a small schema. */
  stretchMax: 16,
} as const;
let metaSchema: Ajv2020 | null = null;
const cache = new Map<string, ValidateFunction>();
let cachedCharacters = 0;

/** Compiling costs 3 to 10 µs a character. */
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
  if (isHeavy(cleaned.text)) return;
  const compiled = compile(cleaned.schema, cleaned.text);
  if (typeof compiled === 'string') throw uncompiled(compiled, param);
}

/** Why a schema cannot be compiled; `pattern`: for its patterns alone, which others may know. */
export type SchemaFault = 'invalid' | 'too_complex' | 'pattern';

/** The 400 for a schema that cannot be compiled. */
export function uncompiled(fault: SchemaFault, param: string): Problem {
  const message =
    fault === 'too_complex'
      ? 'The JSON Schema is too complex.'
      : 'The JSON Schema is not valid (draft 2020-12).';
  return fieldProblem(param, message);
}

/** What is wrong with the schema of a format; null: nothing. */
export function faultOfFormat(format: OutputFormat): SchemaFault | null {
  if (format.type !== 'json_schema') return null;
  const cleaned = cleanSchema(format.schema);
  if (!cleaned.ok) return 'invalid';
  const compiled = compile(cleaned.schema, cleaned.text);
  if (typeof compiled !== 'string') return null;
  if (compiled !== 'invalid') return compiled;
  return compiledWithoutOdd(format.schema, cleaned.text) === null ? 'invalid' : 'pattern';
}

/** Without the patterns that this engine cannot compile; null: that makes it no better. */
function compiledWithoutOdd(schema: unknown, text: string, patience = 1): ValidateFunction | null {
  const kept = cleanSchema(schema, 'compilable');
  if (!kept.ok || kept.text === text) return null;
  const compiled = compile(kept.schema, kept.text, patience);
  return typeof compiled === 'string' ? null : compiled;
}

/** Whether an answer satisfies its format, as far as that can be told in time. */
export function satisfiesOutputFormat(format: OutputFormat, text: string): boolean {
  if (format.type === 'text') return true;
  const value = parse(text);
  if (value === undefined) return false;
  if (format.type === 'json_object') {
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  }
  const cleaned = cleanSchema(format.schema);
  if (!cleaned.ok) return false;
  // It was compiled when the request came, perhaps on another thread and with time to spare.
  const compiled = compile(cleaned.schema, cleaned.text, 2);
  const validate =
    compiled === 'invalid' ? compiledWithoutOdd(format.schema, cleaned.text, 2) : compiled;
  if (validate === null || typeof validate === 'string') return false;
  return (
    bounded(cleaned.text, limits.checkMicrosPerCharacter, () => validate(value) === true) === true
  );
}

/** `patience` stretches the time limit. */
function compile(schema: unknown, text: string, patience = 1): ValidateFunction | SchemaFault {
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
  const validate = bounded(text, patience * limits.compileMicrosPerCharacter, () => {
    if (meta.validateSchema(schema as object) !== true) return 'invalid';
    const ajv = new Ajv2020({ ...options, meta: false, validateSchema: false });
    return ajv.compile(schema as object);
  });
  if (typeof validate === 'string') return validate;
  keep(text, validate);
  return validate;
}

/** The oldest of the cache make room. */
function keep(text: string, validate: ValidateFunction): void {
  cache.set(text, validate);
  cachedCharacters += text.length;
  for (const oldest of cache.keys()) {
    if (cache.size <= cachedSchemasMax && cachedCharacters <= cachedCharactersMax) return;
    cache.delete(oldest);
    cachedCharacters -= oldest.length;
  }
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
 * Interrupting costs more than most of this work, so that there is a limit only for schemas that
 * may need it.
 */
function bounded<T>(text: string, microsPerCharacter: number, work: () => T): T | SchemaFault {
  if (isHeavy(text)) {
    return withinCpuTime(limits.msMin + (text.length * microsPerCharacter) / 1_000, work);
  }
  try {
    return work();
  } catch {
    return 'invalid';
  }
}

/**
 * The limit of node:vm also interrupts our own functions that are called inside. It is one of
 * wall-clock time: work that was struck while others had the processor is done again, with more.
 * Throws when they have it all the time: then nothing is known.
 */
function withinCpuTime<T>(limitMs: number, work: () => T): T | SchemaFault {
  sandbox.run = work;
  try {
    for (let timeout = Math.ceil(limitMs); ; timeout *= 2) {
      const startedMs = threadCpuMs();
      try {
        return script.runInContext(context, { timeout }) as T;
      } catch (error) {
        // Deeply nested code overflows the stack of whoever parses it.
        if (error instanceof RangeError) return 'too_complex';
        if (!isTimeout(error)) return 'invalid';
        const isUsed = threadCpuMs() - startedMs >= limitMs * limits.usedShare;
        if (isUsed) return 'too_complex';
        if (timeout >= limitMs * limits.stretchMax) throw new Error('no processor for a schema');
      }
    }
  } finally {
    sandbox.run = null;
  }
}

function isTimeout(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// Holds what clients of Responses are sent to the schema of Open Responses (2026-04-24): whole
// responses, and every event of streams. The schema is public data, beside this file.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { createParser } from 'eventsource-parser';

type Members = Record<string, unknown>;

const source = new URL('../../../../test/conformance/open-responses/schema.json', import.meta.url);
const defs = (JSON.parse(readFileSync(source, 'utf8')) as { $defs: Record<string, Members> }).$defs;

/**
 * The schema lists the types that all providers have. Tools, items, parts and citations of other
 * types are OpenAI's own, and pass as they are: of those only the type is looked at.
 */
function widen(value: unknown): void {
  if (Array.isArray(value)) for (const entry of value) widen(entry);
  else if (isMembers(value)) {
    for (const entry of Object.values(value)) widen(entry);
    if (!Array.isArray(value.oneOf)) return;
    const known = value.oneOf.map(typesOf);
    if (!known.some((types) => types.length > 0)) return;
    value.oneOf.push({
      type: 'object',
      required: ['type'],
      properties: { type: { type: 'string', not: { enum: known.flat() } } },
    });
  }
}

/** The values that `type` may have in one alternative. */
function typesOf(alternative: unknown): unknown[] {
  if (!isMembers(alternative)) return [];
  const { $ref } = alternative;
  const found = typeof $ref === 'string' ? defs[$ref.slice('#/$defs/'.length)] : alternative;
  const properties = found?.properties as { type?: { enum?: unknown[] } } | undefined;
  return properties?.type?.enum ?? [];
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

widen(defs);
// The specification says that it is what was asked for, its schema admits null alone.
const format = defs.JsonSchemaResponseFormat?.properties as Members;
format.schema = { type: 'object' };
// In a stream, OpenAI tells no bytes of a token.
for (const name of ['LogProb', 'TopLogProb']) {
  const scored = defs[name] as { required: string[] };
  scored.required = scored.required.filter((member) => member !== 'bytes');
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addSchema({ $id: 'open-responses', $defs: defs });
const isResponse = validator('ResponseResource');
const isEvent = new Map<unknown, ValidateFunction>(
  Object.keys(defs)
    .filter((name) => name.endsWith('StreamingEvent'))
    .map((name) => [typesOf(defs[name])[0], validator(name)]),
);

function validator(name: string): ValidateFunction {
  const found = ajv.getSchema(`open-responses#/$defs/${name}`);
  assert.ok(found !== undefined, name);
  return found;
}

function assertValid(validate: ValidateFunction, value: unknown, what: string): void {
  if (validate(value)) return;
  const faults = (validate.errors ?? []).map(
    ({ instancePath: path, message, params }) => `${path} ${message} ${JSON.stringify(params)}`,
  );
  assert.fail(`${what} is no Open Responses:\n${faults.join('\n')}\n${JSON.stringify(value)}`);
}

/** @param reply the JSON of a response; lists, errors and what says that one is deleted pass */
export function assertOpenResponse(reply: unknown): void {
  if (isMembers(reply) && reply.object === 'response' && reply.deleted !== true) {
    assertValid(isResponse, reply, 'the response');
  }
}

/** An event of a stream; of types that OpenAI alone has, its number and type. */
export function assertOpenEvent(event: unknown): void {
  assert.ok(isMembers(event));
  const { type, sequence_number: number } = event;
  assert.ok(typeof type === 'string' && Number.isSafeInteger(number), JSON.stringify(event));
  const validate = isEvent.get(type);
  if (validate !== undefined) assertValid(validate, event, type);
}

/**
 * `fetch` whose replies of the routes of Responses are held to the schema on their way to the
 * client: a fault ends the reply.
 */
export async function checkedFetch(input: string, init?: RequestInit): Promise<Response> {
  const response = await fetch(input, init);
  if (response.status !== 200 || !new URL(input).pathname.includes('/responses')) return response;
  const { status, headers, body } = response;
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
  const checker = isStream ? eventChecker() : wholeChecker();
  const checked = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      checker.add(bytes);
      controller.enqueue(bytes);
    },
    flush: () => checker.end(),
  });
  return new Response(body?.pipeThrough(checked) ?? null, { status, headers });
}

interface Checker {
  add(bytes: Uint8Array): void;
  end(): void;
}

function eventChecker(): Checker {
  const decoder = new TextDecoder();
  const parser = createParser({ onEvent: ({ data }) => assertOpenEvent(JSON.parse(data)) });
  return { add: (bytes) => parser.feed(decoder.decode(bytes, { stream: true })), end: () => {} };
}

function wholeChecker(): Checker {
  const pieces: Uint8Array[] = [];
  return {
    add: (bytes) => void pieces.push(bytes),
    end: () => assertOpenResponse(JSON.parse(Buffer.concat(pieces).toString())),
  };
}

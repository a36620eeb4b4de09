// What providers of OpenAI's formats take as strict: every object closed, every property required,
// and few rules besides. Messages has strict schemas too, whose properties may be left out.
import type { FunctionTool, GenerationRequest } from '../../../model/request.ts';
import { isMembers, type Members } from '../../../transport/members.ts';

const rules: ReadonlySet<string> = new Set([
  '$defs',
  '$ref',
  '$schema',
  'additionalProperties',
  'anyOf',
  'const',
  'definitions',
  'description',
  'enum',
  'exclusiveMaximum',
  'exclusiveMinimum',
  'format',
  'items',
  'maxItems',
  'maximum',
  'minItems',
  'minimum',
  'multipleOf',
  'pattern',
  'properties',
  'required',
  'title',
  'type',
]);

/** What the vendor takes of one schema (OpenAI: structured outputs, supported schemas). */
const levelsMax = 10;
const propertiesMax = 5_000;
const valuesMax = 1_000;

/** The request of a client of another format without the strictness that would be refused here. */
export function loosened(request: GenerationRequest): GenerationRequest {
  const { outputFormat: format, tools } = request;
  const isLoose = format.type === 'json_schema' && format.strict && !isStrict(format.schema);
  if (!isLoose && !tools.some(isLooseTool)) return request;
  return {
    ...request,
    outputFormat: isLoose ? { ...format, strict: false } : format,
    tools: tools.map((tool) => (isLooseTool(tool) ? { ...tool, strict: false } : tool)),
  };
}

function isLooseTool({ strict, parameters }: FunctionTool): boolean {
  return strict === true && !isStrict(parameters);
}

function isStrict(schema: unknown): boolean {
  if (!isMembers(schema) || schema.type !== 'object') return false;
  const waiting: { part: unknown; level: number }[] = [{ part: schema, level: 1 }];
  let properties = 0;
  let values = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { part, level } = next;
    if (!isMembers(part) || !isClosed(part) || level > levelsMax) return false;
    if (!Object.keys(part).every((name) => rules.has(name))) return false;
    properties += sizeOf(part.properties);
    values += sizeOf(part.enum);
    if (properties > propertiesMax || values > valuesMax) return false;
    for (const inner of innerOf(part)) {
      waiting.push({ part: inner, level: isMembers(inner) && isObject(inner) ? level + 1 : level });
    }
  }
  return true;
}

function* innerOf(part: Members): Generator<unknown> {
  for (const list of [part.properties, part.$defs, part.definitions]) {
    if (isMembers(list)) yield* Object.values(list);
  }
  if (Array.isArray(part.anyOf)) yield* part.anyOf as unknown[];
  if (part.items !== undefined) yield part.items;
}

function sizeOf(value: unknown): number {
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}

function isObject({ type, properties }: Members): boolean {
  return properties !== undefined || type === 'object' || isListed(type);
}

function isListed(type: unknown): boolean {
  return Array.isArray(type) && type.includes('object');
}

/** Whether it is no object, or one of which everything is said. */
function isClosed(part: Members): boolean {
  if (!isObject(part)) return true;
  const { properties, required, additionalProperties } = part;
  const named: ReadonlySet<unknown> = new Set(Array.isArray(required) ? required : []);
  const names = isMembers(properties) ? Object.keys(properties) : [];
  return additionalProperties === false && names.every((name) => named.has(name));
}

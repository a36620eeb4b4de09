// What providers of OpenAI's formats take as strict: every object closed, every property required,
// and few rules besides. Messages has strict schemas too, whose properties may be left out.
import { addTo } from '../../model/lists.ts';
import type { FunctionTool, GenerationRequest } from '../../model/request.ts';
import { isMembers, type Members } from '../../transport/members.ts';

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

/** The request of a client of Messages without the strictness that would be refused here. */
export function loosened(request: GenerationRequest): GenerationRequest {
  const { outputFormat: format, source, tools } = request;
  if (source.format !== 'messages') return request;
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
  const waiting: unknown[] = [schema];
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    if (!isMembers(part) || !isClosed(part)) return false;
    if (!Object.keys(part).every((name) => rules.has(name))) return false;
    for (const list of [part.properties, part.$defs, part.definitions]) {
      if (isMembers(list)) addTo(waiting, Object.values(list));
    }
    if (Array.isArray(part.anyOf)) addTo(waiting, part.anyOf as unknown[]);
    if (part.items !== undefined) waiting.push(part.items);
  }
  return true;
}

/** Whether it is no object, or one of which everything is said. */
function isClosed({ type, properties, required, additionalProperties }: Members): boolean {
  const isObject = type === 'object' || (Array.isArray(type) && type.includes('object'));
  if (!isObject && properties === undefined) return true;
  const named: ReadonlySet<unknown> = new Set(Array.isArray(required) ? required : []);
  const names = isMembers(properties) ? Object.keys(properties) : [];
  return additionalProperties === false && names.every((name) => named.has(name));
}

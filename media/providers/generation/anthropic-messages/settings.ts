// Neutral settings → members of a Messages body, for requests that came in another format.
import { cacheMark as markOf } from '../../../model/dialects/passthrough.ts';
import type { FunctionTool, GenerationRequest } from '../../../model/request.ts';
import type { Members } from '../../../transport/members.ts';
import { functionSchema } from '../function-schema.ts';
import { labels } from '../told.ts';
import { cacheMark } from './parts.ts';
import { constrainedSchema } from './schema.ts';

const temperatureMax = 1;

/** Sampling, tools and their choice, as far as they were given. */
export function encodeSettings(request: GenerationRequest, body: Members): void {
  const { sampling } = request;
  if (sampling.temperature !== null) {
    body.temperature = Math.min(sampling.temperature, temperatureMax);
  }
  // Newer models refuse both at once.
  else if (sampling.topP !== null) body.top_p = sampling.topP;
  if (sampling.topK !== null) body.top_k = sampling.topK;
  const stop = sampling.stop.filter(isWatched);
  if (stop.length > 0) body.stop_sequences = stop;
  // Beside the messages: all of them are to be kept.
  if (request.source.format === 'chat') Object.assign(body, cacheMark(markOf(request.source.body)));
  const native = request.nativeTools.filter((tool) => tool.format === 'messages');
  const tools = [...request.tools.map(encodeTool), ...native.map((tool) => tool.value)];
  if (tools.length === 0) return;
  body.tools = tools;
  const choice = choiceOf(request);
  if (choice !== null) body.tool_choice = choice;
}

const unknown = ['frequency_penalty', 'presence_penalty', 'seed', 'verbosity', ...labels] as const;
const always: ReadonlySet<string> = new Set(unknown);
const besideTemperature: ReadonlySet<string> = new Set([...unknown, 'top_p']);

/** No `top_p` is told beside a temperature. */
export function leavesOut({ sampling }: GenerationRequest): ReadonlySet<string> {
  return sampling.temperature === null ? always : besideTemperature;
}

/** Blank stop sequences are refused, so clients of other formats get them watched for here. */
export function unwatched({ sampling, source }: GenerationRequest): readonly string[] {
  if (source.format === 'messages') return none;
  return sampling.stop.filter((sequence) => !isWatched(sequence));
}

const none: readonly string[] = [];

function isWatched(sequence: string): boolean {
  return sequence.trim() !== '';
}

function encodeTool(tool: FunctionTool): Members {
  const { name, description, parameters, strict } = tool;
  const schema = functionSchema(parameters ?? {});
  const kept = strict === true ? constrainedSchema(schema) : null;
  return {
    name,
    ...(description === null ? {} : { description }),
    input_schema: kept ?? schema,
    ...(kept === null ? {} : { strict: true }),
    ...cacheMark(tool),
  };
}

/** Which tool of those that were given is to be called; null: it was not said. */
export function choiceOf({
  toolChoice: choice,
  parallelToolCalls: parallel,
}: GenerationRequest): Members | null {
  if (choice === 'none') return { type: 'none' };
  const alone = parallel === false ? { disable_parallel_tool_use: true } : {};
  if (choice === null) return parallel === false ? { type: 'auto', ...alone } : null;
  if (choice === 'auto') return { type: 'auto', ...alone };
  if (choice === 'required') return { type: 'any', ...alone };
  return { type: 'tool', name: choice.name, ...alone };
}

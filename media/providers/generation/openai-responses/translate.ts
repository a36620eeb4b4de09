// Neutral tools and settings → their Responses form, for requests that came in another format.
import type {
  FunctionTool,
  GenerationRequest,
  Message,
  OutputFormat,
  Reasoning,
  ToolChoice,
} from '../../../model/request.ts';
import type { Members } from '../../../transport/members.ts';
import { effortOf } from '../effort.ts';
import { functionSchema } from '../function-schema.ts';
import { scoresOf, verbosityOf } from '../told.ts';
import { encodeInput } from './input.ts';

/** `input`, and `instructions` where system messages of text alone stand in front. */
export function encodeMessages(messages: readonly Message[]): Members {
  const isPlainSystem = ({ role, parts }: Message) =>
    role === 'system' && parts.every((part) => part.type === 'text');
  const firstOther = messages.findIndex((message) => !isPlainSystem(message));
  const count = firstOther < 0 ? messages.length : firstOther;
  const input = encodeInput(messages.slice(count));
  if (count === 0) return { input };
  const texts = messages.slice(0, count).map(textOf);
  // Without any other message the instructions are what is asked.
  if (input.length === 0) return { input: texts.join('\n\n') };
  return { instructions: texts.join('\n\n'), input };
}

function textOf({ parts }: Message): string {
  return parts.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n');
}

/** Sampling, tools, format and reasoning, as far as they were given. */
export function encodeSettings(
  request: GenerationRequest,
  body: Members,
  reasoning: Reasoning | null,
): void {
  const { sampling, tools, toolChoice, parallelToolCalls, outputFormat } = request;
  if (sampling.temperature !== null) body.temperature = sampling.temperature;
  if (sampling.topP !== null) body.top_p = sampling.topP;
  if (reasoning !== null) body.reasoning = encodeReasoning(reasoning);
  const format = encodeFormat(outputFormat);
  const verbosity = verbosityOf(request);
  if (format !== null) body.text = { format };
  if (verbosity !== null) body.text = format === null ? { verbosity } : { format, verbosity };
  const scores = scoresOf(request);
  if (scores !== null && scores > 0) body.top_logprobs = scores;
  const native = request.nativeTools.filter((tool) => tool.format === 'responses');
  if (tools.length + native.length === 0) return;
  body.tools = [...tools.map(encodeTool), ...native.map((tool) => tool.value)];
  if (toolChoice !== null) body.tool_choice = encodeChoice(toolChoice, tools);
  if (parallelToolCalls !== null) body.parallel_tool_calls = parallelToolCalls;
}

/** `text.format`; null: plain text. */
export function encodeFormat(format: OutputFormat): Members | null {
  if (format.type === 'text') return null;
  if (format.type === 'json_object') return { type: 'json_object' };
  const { name, schema, strict } = format;
  return { type: 'json_schema', name, schema, strict };
}

function encodeReasoning(wanted: Reasoning): Members {
  const reasoning: Members = {};
  const effort = effortOf(wanted);
  if (effort !== null) reasoning.effort = effort;
  if (wanted.summary) reasoning.summary = 'auto';
  return reasoning;
}

/** Here a function is strict unless it says otherwise; in the other formats it is not. */
function encodeTool(tool: FunctionTool): Members {
  const { name, custom } = tool;
  if (custom !== undefined) {
    const { description, format } = custom;
    const text: Members = { type: 'custom', name };
    if (description !== null) text.description = description;
    if (format !== null) text.format = format;
    return text;
  }
  const declared: Members = { type: 'function', name: tool.name };
  if (tool.description !== null) declared.description = tool.description;
  declared.parameters = functionSchema(tool.parameters ?? {});
  declared.strict = tool.strict ?? false;
  return declared;
}

function encodeChoice(choice: ToolChoice, tools: readonly FunctionTool[]): unknown {
  if (typeof choice === 'string') return choice;
  const { name } = choice;
  const isCustom = tools.some((tool) => tool.name === name && tool.custom !== undefined);
  return { type: isCustom ? 'custom' : 'function', name };
}

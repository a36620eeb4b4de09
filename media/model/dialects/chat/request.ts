// A Chat Completions body → the neutral request, and the refusals that a schema cannot word.
import { fieldProblem } from '../../../../runtime/http/validate.ts';
import { customCall, customTool } from '../../custom-tools.ts';
import { fileUrl } from '../../file-url.ts';
import { withParsedUrls } from '../../media-url.ts';
import type {
  ContentPart,
  FunctionTool,
  GenerationRequest,
  Message,
  NativeTool,
  Sampling,
  ToolChoice,
} from '../../request.ts';
import { isSearchTool, withoutForbiddenSearch } from '../../search-tools.ts';
import {
  readCeiling,
  readControls,
  readOutputFormat,
  refuseNoneAllowed,
  refuseServerTool,
  refuseTooManyServers,
} from '../fields.ts';
import { cacheMark, passthroughOf } from '../passthrough.ts';
import { FunctionIds, knowsFunctions } from './functions.ts';
import type { ChatRequestBody, KnownParts } from './schema.ts';

/** Throws a Problem with the field's path for what the schema alone cannot refuse. */
export function readRequest(
  given: ChatRequestBody,
  headers: Readonly<Record<string, string>>,
): GenerationRequest {
  refuseUnsupported(given);
  const body = withParsedUrls(given, ['messages', 'tools']);
  const messages = readMessages(body.messages);
  if (typeof body.instructions === 'string') messages.unshift(systemMessage(body.instructions));
  const { tools, nativeTools } = readTools(declaredTools(body));
  return withoutForbiddenSearch({
    model: body.model,
    messages,
    tools: allowedAmong(tools, nativeTools, body),
    nativeTools,
    toolChoice: readToolChoice(body),
    parallelToolCalls: body.parallel_tool_calls ?? (knowsFunctions(body) ? false : null),
    outputFormat: readOutputFormat(body),
    outputTokensMax: readCeiling(body),
    sampling: readSampling(body),
    reasoning:
      typeof body.reasoning_effort === 'string'
        ? { effort: body.reasoning_effort, budgetTokens: null, summary: false }
        : null,
    controls: readControls(body),
    source: { format: 'chat', body, headers, rewritten: false },
  });
}

function refuseUnsupported(body: ChatRequestBody): void {
  if (body.modalities?.some((modality) => modality !== 'text')) {
    throw fieldProblem('modalities', "Only the modality 'text' is available on this route.");
  }
}

function readSampling(body: ChatRequestBody): Sampling {
  const stop = body.stop ?? [];
  return {
    temperature: body.temperature ?? null,
    topP: body.top_p ?? null,
    topK: null,
    seed: body.seed ?? null,
    presencePenalty: body.presence_penalty ?? null,
    frequencyPenalty: body.frequency_penalty ?? null,
    stop: typeof stop === 'string' ? [stop] : stop,
  };
}

type BodyMessage = ChatRequestBody['messages'][number];

function readMessages(messages: readonly BodyMessage[]): Message[] {
  const ids = new FunctionIds();
  return messages.map((message, index) => {
    const read = readMessage(message);
    if (message.role === 'function') read.toolCallId = ids.answered(message.name, index);
    if (message.role === 'assistant' && message.function_call) {
      const { name, arguments: text } = message.function_call;
      read.toolCalls.push({ id: ids.asked(name, index), name, arguments: text });
    }
    return read;
  });
}

function readMessage(message: BodyMessage): Message {
  const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : [];
  const parts = readParts(message.content);
  // Not every format tells a refusal from other words, but all models are to know what was said.
  if (message.role === 'assistant' && message.refusal) {
    parts.push({ type: 'text', text: message.refusal });
  }
  return {
    role: message.role === 'function' ? 'tool' : message.role,
    parts,
    toolCalls: calls.map(readCall),
    toolCallId: message.role === 'tool' ? message.tool_call_id : null,
    ...passthroughOf('chat', message, messageMembers),
  };
}

const messageMembers: ReadonlySet<string> = new Set([
  '__proto__',
  'content',
  'function_call',
  'refusal',
  'role',
  'tool_call_id',
  'tool_calls',
]);
const callMembers: ReadonlySet<string> = new Set([
  '__proto__',
  'custom',
  'function',
  'id',
  'index',
  'type',
]);

type BodyCall = NonNullable<(BodyMessage & { role: 'assistant' })['tool_calls']>[number];

function readCall(call: BodyCall): Message['toolCalls'][number] {
  const own = passthroughOf('chat', call, callMembers);
  if (call.type === 'custom') {
    const { name, input } = call.custom;
    return { ...customCall(call.id, name, input), ...own };
  }
  const { name, arguments: text } = call.function;
  return { id: call.id, name, arguments: text, ...own };
}

function readParts(content: BodyMessage['content']): ContentPart[] {
  if (content === null || content === undefined) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.map(readPart);
}

/** Any part: those of unknown types too. */
type BodyPart = Record<string, unknown> & { type: string };

/** Marks of a cache are what gateways have taught clients of models that speak Messages. */
function readPart(part: BodyPart): ContentPart {
  if (isPart(part, 'text')) return { type: 'text', text: part.text, ...cacheMark(part) };
  if (isPart(part, 'refusal')) return { type: 'text', text: part.refusal };
  if (isPart(part, 'image_url')) {
    const { url, detail = null } = part.image_url;
    return { type: 'image', url, detail, ...cacheMark(part) };
  }
  if (isPart(part, 'file') && typeof part.file.file_data === 'string') {
    const name = part.file.filename ?? null;
    return { type: 'file', url: fileUrl(part.file.file_data, name), name, ...cacheMark(part) };
  }
  return { type: 'native', format: 'chat', value: part };
}

function isPart<T extends keyof KnownParts>(
  part: BodyPart,
  type: T,
): part is BodyPart & KnownParts[T] {
  return part.type === type;
}

function systemMessage(text: string): Message {
  return { role: 'system', parts: [{ type: 'text', text }], toolCalls: [], toolCallId: null };
}

type BodyTool = NonNullable<ChatRequestBody['tools']>[number];

const noSearchTool = "This format has no search tool: ask for one by 'web_search'.";

function readTools(declared: BodyTool[]): { tools: FunctionTool[]; nativeTools: NativeTool[] } {
  refuseTooManyServers(declared);
  const tools: FunctionTool[] = [];
  const nativeTools: NativeTool[] = [];
  for (const [index, tool] of declared.entries()) {
    refuseServerTool(tool, index);
    if (tool.type === 'function' || tool.type === 'custom') {
      tools.push(readTool(tool, tool.type, index));
      continue;
    }
    // Nobody counts what such a search costs: `web_search` asks for one.
    if (isSearchTool(tool)) throw fieldProblem(`tools[${index}].type`, noSearchTool);
    nativeTools.push({ format: 'chat', value: tool, path: `tools[${index}]` });
  }
  return { tools, nativeTools };
}

function declaredTools({ tools, functions }: ChatRequestBody): BodyTool[] {
  return tools ?? (functions ?? []).map((declared) => ({ type: 'function', function: declared }));
}

function readTool(tool: BodyTool, type: 'function' | 'custom', index: number): FunctionTool {
  const declared = tool[type] ?? null;
  if (declared === null) {
    const path = `tools[${index}].${type}`;
    throw fieldProblem(path, `Missing required field '${path}'.`);
  }
  const { name, description = null, parameters = null, strict = null, format } = declared;
  const marks = { ...cacheMark(declared), ...cacheMark(tool) };
  if (type === 'custom') return { ...customTool(name, description, flatFormat(format)), ...marks };
  return { name, description, parameters, strict, ...marks };
}

/** The other format with custom tools names syntax and definition beside the type. */
function flatFormat(format: unknown): unknown {
  const { type, grammar } = Object(format) as Record<string, unknown>;
  return type === 'grammar' ? { type, ...Object(grammar) } : format;
}

/** Models of other formats know no list of allowed tools: they are offered no others. */
function allowedAmong(
  tools: FunctionTool[],
  nativeTools: readonly NativeTool[],
  { tool_choice }: ChatRequestBody,
): FunctionTool[] {
  const allowed = typeof tool_choice === 'object' ? tool_choice?.allowed_tools : null;
  if (allowed === null || allowed === undefined) return tools;
  const names = new Set(allowed.tools.map((tool) => (tool.custom ?? tool.function)?.name));
  const left = tools.filter(({ name }) => names.has(name));
  // What else is allowed the provider knows.
  if (nativeTools.length > 0) return left;
  return refuseNoneAllowed(left, 'tool_choice.allowed_tools.tools');
}

function readFunctionCall({ function_call: choice }: ChatRequestBody): ToolChoice | null {
  if (choice === null || choice === undefined || typeof choice === 'string') return choice ?? null;
  return { name: choice.name };
}

function readToolChoice(body: ChatRequestBody): ToolChoice | null {
  const choice = body.tool_choice ?? null;
  if (choice === null) return readFunctionCall(body);
  if (typeof choice === 'string') return choice;
  const { type } = choice;
  if (type === 'allowed_tools') {
    return choice.allowed_tools?.mode === 'required' ? 'required' : 'auto';
  }
  const chosen = choice[type];
  if (chosen) return { name: chosen.name };
  throw fieldProblem(`tool_choice.${type}`, `Missing required field 'tool_choice.${type}'.`);
}

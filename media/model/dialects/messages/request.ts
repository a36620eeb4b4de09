// A Messages body → the neutral request, and the refusals that a schema cannot word.
import { fieldProblem } from '../../../../runtime/http/validate.ts';
import { Problem } from '../../../../runtime/problem.ts';
import { withParsedUrls } from '../../media-url.ts';
import {
  type FunctionTool,
  type GenerationRequest,
  isDemanded,
  isOptionalTool,
  type NativeTool,
  noSampling,
  type OutputFormat,
  type Reasoning,
  type ToolChoice,
} from '../../request.ts';
import { noSeals, type Seals } from '../../seals.ts';
import { withoutForbiddenSearch } from '../../search-tools.ts';
import { assertOutputFormat } from '../../structured.ts';
import {
  readCeiling,
  readControls,
  readOutputFormat,
  refuseServerTool,
  refuseTooManyServers,
} from '../fields.ts';
import { readMessages } from './content.ts';
import type { BodyTool, CountRequestBody, MessagesRequestBody } from './schema.ts';

const listsWithUrls = ['system', 'messages', 'tools', 'mcp_servers'] as const;

type Headers = Readonly<Record<string, string>>;

/** Throws a Problem with the field's path for what the schema alone cannot refuse. */
export function readRequest(
  body: MessagesRequestBody,
  headers: Headers,
  seals: Pick<Seals, 'open'> = noSeals,
): GenerationRequest {
  return {
    ...readCountRequest(body, headers, seals),
    outputTokensMax: readCeiling(body),
    sampling: {
      ...noSampling,
      temperature: body.temperature ?? null,
      topP: body.top_p ?? null,
      topK: body.top_k ?? null,
      stop: body.stop_sequences ?? [],
    },
  };
}

/** The same for a body of count_tokens, which has no ceiling. */
export function readCountRequest(
  given: CountRequestBody,
  headers: Headers,
  seals: Pick<Seals, 'open'> = noSeals,
): GenerationRequest {
  refuseThread(given);
  const body = withInstructions(withParsedUrls(given, listsWithUrls));
  const toolChoice = readToolChoice(body);
  const { tools, nativeTools } = readTools(body.tools ?? [], toolChoice);
  return withoutForbiddenSearch({
    model: body.model,
    messages: readMessages(body, seals),
    tools,
    nativeTools,
    toolChoice,
    parallelToolCalls: body.tool_choice?.disable_parallel_tool_use === true ? false : null,
    outputFormat: readFormat(body),
    outputTokensMax: null,
    sampling: noSampling,
    reasoning: readReasoning(body),
    controls: readControls(body),
    source: { format: 'messages', body, headers, rewritten: false },
  });
}

/** The shared field of 2.9 stands in front of the format's own, for every upstream. */
function withInstructions(body: CountRequestBody): CountRequestBody {
  const { instructions, system } = body;
  if (typeof instructions !== 'string' || instructions === '') return body;
  const own = typeof system === 'string' ? textBlocks(system) : (system ?? []);
  return { ...body, system: [...textBlocks(instructions), ...own] };
}

function textBlocks(text: string): { type: 'text'; text: string }[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

/** Conversations that the server holds are not offered: told so, clients send the whole of them. */
function refuseThread(body: CountRequestBody): void {
  if ((body.thread ?? null) === null) return;
  throw new Problem('invalid_request', {
    message: "Threads are not available: send the full conversation without 'thread'.",
    param: 'thread',
    details: { path: 'thread', error_code: 'thread_unsupported_request', unsupported: [] },
    headers: { 'x-should-retry': 'false' },
  });
}

function readTools(
  declared: BodyTool[],
  choice: ToolChoice | null,
): { tools: FunctionTool[]; nativeTools: NativeTool[] } {
  const tools: FunctionTool[] = [];
  const nativeTools: NativeTool[] = [];
  const typed = declared.map((tool) => ({ ...tool, type: tool.type ?? 'custom' }));
  refuseTooManyServers(typed);
  const demanded = isDemanded(typed, choice);
  for (const [index, tool] of typed.entries()) {
    refuseServerTool(tool, index);
    if (tool.type === 'custom') {
      tools.push(readTool(tool, index));
      continue;
    }
    const isChosen = typeof choice === 'object' && choice?.name === tool.name;
    const isOptional = isOptionalTool(tool.type) && !isChosen && !demanded;
    nativeTools.push({ format: 'messages', value: tool, path: `tools[${index}]`, isOptional });
  }
  return { tools, nativeTools };
}

function readTool(tool: BodyTool, index: number): FunctionTool {
  for (const name of ['name', 'input_schema'] as const) {
    if (tool[name] !== null && tool[name] !== undefined) continue;
    const path = `tools[${index}].${name}`;
    throw fieldProblem(path, `Missing required field '${path}'.`);
  }
  return {
    name: tool.name ?? '',
    description: tool.description ?? null,
    parameters: tool.input_schema ?? null,
    strict: tool.strict ?? null,
  };
}

function readToolChoice(body: CountRequestBody): ToolChoice | null {
  const choice = body.tool_choice ?? null;
  if (choice === null) return null;
  if (choice.type === 'any') return 'required';
  if (choice.type !== 'tool') return choice.type;
  if (typeof choice.name === 'string') return { name: choice.name };
  throw fieldProblem('tool_choice.name', "Missing required field 'tool_choice.name'.");
}

/** The shared members take precedence over the format's own, of which one is a former name. */
function readFormat(body: CountRequestBody): OutputFormat {
  const common = readOutputFormat(body);
  const isNamed = (body.response_format ?? body.text?.format ?? null) !== null;
  const current = body.output_config?.format ?? null;
  const own = current ?? body.output_format ?? null;
  if (isNamed || own === null) return common;
  const path = current === null ? 'output_format' : 'output_config.format';
  const format: OutputFormat = {
    type: 'json_schema',
    name: 'output',
    schema: own.schema ?? {},
    strict: true,
  };
  assertOutputFormat(format, `${path}.schema`);
  return format;
}

function readReasoning(body: CountRequestBody): Reasoning | null {
  const effort = body.output_config?.effort ?? null;
  const thinking = body.thinking ?? null;
  const isOn = thinking !== null && thinking.type !== 'disabled';
  if (!isOn && effort === null) return null;
  return {
    // The highest has another name elsewhere.
    effort: effort === 'max' ? 'xhigh' : effort,
    budgetTokens: isOn ? (thinking.budget_tokens ?? null) : null,
    summary: isOn && thinking.display !== 'omitted',
  };
}

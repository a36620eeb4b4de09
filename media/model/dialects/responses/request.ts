// A Responses body → the neutral request, and the refusals that a schema cannot word.
import { fieldProblem } from '../../../../runtime/http/validate.ts';
import { addTo } from '../../lists.ts';
import { withParsedUrls } from '../../media-url.ts';
import {
  type FunctionTool,
  type GenerationRequest,
  isDemanded,
  isOptionalTool,
  type NativeTool,
  noSampling,
  type Reasoning,
  type ToolChoice,
} from '../../request.ts';
import { noSeals, type Seals } from '../../seals.ts';
import { withoutForbiddenSearch } from '../../search-tools.ts';
import {
  readCeiling,
  readControls,
  readOutputFormat,
  refuseServerTool,
  refuseTooManyServers,
} from '../fields.ts';
import { allowedAmong } from './allowed.ts';
import { type ReadInput, readInput, textMessage } from './input.ts';
import { declaringItems, lateTools } from './late-tools.ts';
import { clientTool, flatName, namespaceTools } from './namespaces.ts';
import type { DeclaredChoice, DeclaredTool, ResponsesRequestBody } from './schema.ts';

/** Throws a Problem with the field's path for what the schema alone cannot refuse. */
export function readRequest(
  given: ResponsesRequestBody,
  headers: Readonly<Record<string, string>>,
  seals: Pick<Seals, 'open'> = noSeals,
): GenerationRequest {
  refuseForeignState(given);
  const body = withParsedUrls(given, ['input', 'messages', 'tools']);
  const { messages, opened } = readMessages(body, seals);
  if (typeof body.instructions === 'string') {
    messages.unshift(textMessage('system', body.instructions));
  }
  return withoutForbiddenSearch({
    model: body.model,
    messages,
    ...readTools(body.tools ?? [], body.tool_choice ?? null, lateTools(declaringItems({ body }))),
    toolChoice: readToolChoice(body.tool_choice ?? null),
    parallelToolCalls: body.parallel_tool_calls ?? null,
    outputFormat: readOutputFormat(body),
    outputTokensMax: readCeiling(body),
    sampling: {
      ...noSampling,
      temperature: body.temperature ?? null,
      topP: body.top_p ?? null,
      presencePenalty: body.presence_penalty ?? null,
      frequencyPenalty: body.frequency_penalty ?? null,
    },
    reasoning: readReasoning(body.reasoning ?? null),
    controls: readControls(body),
    source: { format: 'responses', body, opened, headers, rewritten: false },
  });
}

/** State that lives with a provider under its operator's name: other accounts' as well. */
function refuseForeignState(body: ResponsesRequestBody): void {
  const members: Record<string, unknown> = body;
  for (const name of ['conversation', 'prompt']) {
    if (members[name] === null || members[name] === undefined) continue;
    throw fieldProblem(name, `'${name}' is not available: send the whole input.`);
  }
}

/** `messages` is the shared field of 2.9, for callers that have no `input`. */
function readMessages(body: ResponsesRequestBody, seals: Pick<Seals, 'open'>): ReadInput {
  const { input, messages } = body;
  if (input !== null && input !== undefined) return readInput(input, seals);
  if (messages !== null && messages !== undefined) return readInput(messages, seals, 'messages');
  // The model goes on from the turns that are continued.
  if ((body.previous_response_id ?? null) !== null) return { messages: [], opened: null };
  throw fieldProblem('input', "Missing required field 'input'.");
}

function isOptional({ type }: DeclaredTool, choice: DeclaredChoice): boolean {
  const isChosen = typeof choice === 'object' && choice?.type === type;
  return isOptionalTool(type) && !isChosen;
}

/**
 * `late`: tools of the client's own that stand in its input.
 * @throws Problem invalid_request with the path of what is wrong
 */
export function readTools(
  declared: readonly DeclaredTool[],
  choice: DeclaredChoice,
  late: readonly DeclaredTool[] = [],
): {
  tools: FunctionTool[];
  nativeTools: NativeTool[];
} {
  refuseTooManyServers(declared);
  const tools: FunctionTool[] = [];
  const nativeTools: NativeTool[] = [];
  const allowed = allowedAmong([...declared, ...late], choice);
  const demanded = isDemanded(allowed.keys(), readToolChoice(choice));
  for (const [index, tool] of declared.entries()) {
    refuseServerTool(tool, index);
    const left = allowed.get(tool);
    if (left === undefined) continue;
    const inNamespace = namespaceTools(left);
    if (inNamespace !== null) {
      addTo(tools, inNamespace);
      continue;
    }
    if (tool.type !== 'function' && tool.type !== 'custom') {
      const isFree = isOptional(tool, choice) && !demanded;
      const path = `tools[${index}]`;
      nativeTools.push({ format: 'responses', value: tool, path, isOptional: isFree });
      continue;
    }
    if (typeof tool.name !== 'string') {
      const path = `tools[${index}].name`;
      throw fieldProblem(path, `Missing required field '${path}'.`);
    }
    tools.push(clientTool(tool.name, tool));
  }
  const added = late.flatMap((tool) => readLate(allowed.get(tool)));
  return { tools: withLate(tools, added), nativeTools };
}

function readLate(tool: DeclaredTool | undefined): FunctionTool[] {
  if (tool === undefined) return [];
  return namespaceTools(tool) ?? [clientTool(String(tool.name), tool)];
}

/** The last declaration of a name holds: agents declare a tool again when it has changed. */
function withLate(tools: FunctionTool[], late: readonly FunctionTool[]): FunctionTool[] {
  if (late.length === 0) return tools;
  const named = new Map(late.map((tool) => [tool.name, tool]));
  return [...tools.filter(({ name }) => !named.has(name)), ...named.values()];
}

export function readToolChoice(choice: DeclaredChoice): ToolChoice | null {
  if (choice === null || typeof choice === 'string') return choice;
  if (choice.type === 'function' || choice.type === 'custom') {
    const { name, namespace } = choice;
    if (typeof name === 'string') {
      return { name: typeof namespace === 'string' ? flatName(namespace, name) : name };
    }
    throw fieldProblem('tool_choice.name', "Missing required field 'tool_choice.name'.");
  }
  // A native tool: a same-format upstream reads the choice from the body.
  return choice.type === 'allowed_tools' && choice.mode === 'required' ? 'required' : 'auto';
}

function readReasoning(declared: ResponsesRequestBody['reasoning'] | null): Reasoning | null {
  if (declared === null || declared === undefined) return null;
  const { effort, summary } = declared;
  return {
    effort: effort ?? null,
    budgetTokens: null,
    summary: typeof summary === 'string' && summary !== 'none',
  };
}

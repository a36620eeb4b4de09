// Reads what the simulator needs from a Responses body, and refuses what the provider would.
import { countWords, type ForcedCall, type Plan, planAnswer } from '../answer.ts';
import { type ChatError, invalidRequest, unknownModel } from '../chat/failure.ts';
import { type Directive, findDirective, withoutDirective } from '../directive.ts';
import { isMembers, type Members, membersOf, positiveOf, stringsOf } from '../members.ts';
import { askedTool } from '../question.ts';
import { picturesOf } from '../sight/pictures.ts';
import { refusalOf } from './check.ts';

/** Ids with another name and length than any public alias. */
export const responsesModels: readonly string[] = [
  'simulated-responses-large-2026-01-15',
  'simulated-responses-small-2026-01-15',
  'simulated-responses-tiered-2026-01-15',
];

export interface ResponsesRequest {
  model: string;
  stream: boolean;
  obfuscate: boolean;
  directive: Directive;
  plan: Plan;
  inputTokens: number;
  /** Summaries of reasoning come only to those who ask for them. */
  summarize: boolean;
  /** Sealed reasoning, for clients that keep nothing on the provider's side. */
  seal: boolean;
  listSources: boolean;
  /** Logprobs of the text, with so many others for each token. */
  scores: number | null;
  searchQuery: string;
  /** How a declared tool is called, by name. */
  tools: ReadonlyMap<string, DeclaredTool>;
  /** The request's settings as the response repeats them. */
  echo: Members;
}

export interface DeclaredTool {
  custom: boolean;
  namespace: string | null;
  schema: unknown;
}

export function readResponsesRequest(body: unknown): ResponsesRequest | { error: ChatError } {
  if (!isMembers(body)) {
    return { error: invalidRequest('We could not parse the JSON body of your request.', null) };
  }
  const { model, input } = body;
  if (typeof model !== 'string') {
    return { error: invalidRequest("Missing required parameter: 'model'.", 'model') };
  }
  if (!responsesModels.includes(model)) return { error: unknownModel(model) };
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : membersOf(input);
  const error = refusalOf(body, items);
  return error === null ? requestOf(body, model, items) : { error };
}

function requestOf(body: Members, model: string, items: Members[]): ResponsesRequest {
  const texts = items.map((item) => (item.role === 'user' ? textOf(item.content) : null));
  const { directive, at } = findDirective(texts);
  const declared = [...membersOf(body.tools), ...items.flatMap(addedTools)];
  const tools = body.tool_choice === 'none' ? new Map() : declaredTools(declared, null);
  const searches = declared.some(({ type }) => /^web_search/.test(String(type)));
  const own = typeof body.instructions === 'string' ? countWords(body.instructions) : 0;
  const inputTokens = items.reduce((sum, item) => sum + countWords(itemText(item)), own);
  const include = stringsOf(body.include);
  const reasoning = isMembers(body.reasoning) ? body.reasoning : {};
  const options = isMembers(body.stream_options) ? body.stream_options : {};
  return {
    model,
    stream: body.stream === true,
    obfuscate: options.include_obfuscation !== false,
    directive,
    inputTokens,
    plan: planAnswer({
      directive,
      inputTokens,
      declaredTools: [...tools.keys()],
      forced: forcedOf(body.tool_choice, tools) ?? askedTool(texts, at, callable(tools)),
      toolResultCount: items.slice(at + 1).filter(isResult).length,
      schema: schemaOf(body.text),
      outputTokensMax: positiveOf(body.max_output_tokens),
      searchCountMax: searches ? (positiveOf(body.max_tool_calls) ?? Infinity) : null,
      stopSequences: [],
      refusalIsSpoken: true,
      texts,
      pictures: () => picturesOf(items.map(({ content }) => content)),
    }),
    summarize: typeof (reasoning.summary ?? reasoning.generate_summary) === 'string',
    seal: include.includes('reasoning.encrypted_content'),
    scores: include.includes('message.output_text.logprobs')
      ? (positiveOf(body.top_logprobs) ?? 0)
      : null,
    listSources: include.includes('web_search_call.action.sources'),
    searchQuery: withoutDirective(texts.findLast((text) => text !== null) ?? '').slice(0, 80),
    tools,
    echo: echoOf(body),
  };
}

function isResult(item: Members): boolean {
  return String(item.type).endsWith('_call_output');
}

/** An item of the input may declare tools as well. */
function addedTools({ type, tools }: Members): Members[] {
  return type === 'additional_tools' ? membersOf(tools) : [];
}

/** Functions and custom tools, also those inside a namespace. */
function declaredTools(tools: unknown, namespace: string | null): Map<string, DeclaredTool> {
  const found = new Map<string, DeclaredTool>();
  for (const tool of membersOf(tools)) {
    const { type, name } = tool;
    if (typeof name !== 'string') continue;
    if (type === 'namespace') {
      for (const [inner, entry] of declaredTools(tool.tools, name)) found.set(inner, entry);
    } else if (type === 'function' || type === 'custom') {
      found.set(name, { custom: type === 'custom', namespace, schema: tool.parameters });
    }
  }
  return found;
}

function callable(tools: Map<string, DeclaredTool>): ForcedCall[] {
  return [...tools].map(([name, { schema }]) => ({ name, schema }));
}

function forcedOf(choice: unknown, tools: Map<string, DeclaredTool>): ForcedCall | null {
  const wanted = isMembers(choice)
    ? choice.name
    : choice === 'required'
      ? [...tools.keys()][0]
      : null;
  const tool = typeof wanted === 'string' ? tools.get(wanted) : undefined;
  return tool === undefined ? null : { name: String(wanted), schema: tool.schema };
}

function schemaOf(text: unknown): unknown {
  const format = isMembers(text) ? text.format : null;
  if (!isMembers(format)) return null;
  if (format.type === 'json_object') return { type: 'object' };
  return format.type === 'json_schema' ? (format.schema ?? { type: 'object' }) : null;
}

function itemText(item: Members): string {
  return isResult(item) ? textOf(item.output) : textOf(item.content);
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  const texts = membersOf(content).map((part) => part.text);
  return texts.filter((text) => typeof text === 'string').join(' ');
}

function echoOf(body: Members): Members {
  const text = isMembers(body.text) ? body.text : {};
  const reasoning = isMembers(body.reasoning) ? body.reasoning : {};
  return {
    access_programs: null,
    background: body.background === true,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: body.max_tool_calls ?? null,
    parallel_tool_calls: body.parallel_tool_calls !== false,
    previous_response_id: null,
    prompt_cache_key: body.prompt_cache_key ?? null,
    reasoning: { effort: reasoning.effort ?? null, summary: reasoning.summary ?? null },
    safety_identifier: body.safety_identifier ?? null,
    service_tier: 'default',
    temperature: body.temperature ?? 1,
    text: { format: text.format ?? { type: 'text' }, verbosity: text.verbosity ?? 'medium' },
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_logprobs: body.top_logprobs ?? 0,
    top_p: body.top_p ?? 1,
    truncation: body.truncation ?? 'disabled',
    metadata: body.metadata ?? {},
  };
}

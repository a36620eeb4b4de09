// Reads what the simulator needs from a Messages body, and refuses what the provider would.
import { countWords, type ForcedCall, type Plan, planAnswer } from '../answer.ts';
import { type Directive, findDirective, withoutDirective } from '../directive.ts';
import { isMembers, type Members, membersOf, positiveOf, stringsOf } from '../members.ts';
import { askedTool } from '../question.ts';
import { picturesOf } from '../sight/pictures.ts';
import { blocksOf, refusalOf } from './check.ts';
import { invalidRequest, type MessagesError, noThreads, unknownModel } from './failure.ts';

/** Ids with another name and length than any public alias. */
export const messagesModels: readonly string[] = [
  'simulated-messages-large-2026-01-15',
  'simulated-messages-small-2026-01-15',
  'simulated-messages-tiered-2026-01-15',
];

const versions: readonly unknown[] = ['2023-06-01', '2026-10-21'];

export interface MessagesRequest {
  model: string;
  stream: boolean;
  directive: Directive;
  plan: Plan;
  inputTokens: number;
  /** The version under which input counts come once only, in the first event. */
  usageOnce: boolean;
  /** Thinking is signed but not shown. */
  thinkingHidden: boolean;
  searchQuery: string;
}

/** `counting`: a body of count_tokens, which needs no ceiling. */
export function readMessagesRequest(
  body: unknown,
  version: string,
  counting: boolean,
): MessagesRequest | { error: MessagesError } {
  if (version === '') return refused('anthropic-version: header is required');
  if (!versions.includes(version)) {
    return refused(`anthropic-version: "${version}" is not a valid version`);
  }
  if (!isMembers(body)) return refused('The request body is not valid JSON.');
  const { model, messages } = body;
  if (typeof model !== 'string') return refused('model: Field required');
  if (!counting && body.max_tokens === undefined) return refused('max_tokens: Field required');
  if (!counting && positiveOf(body.max_tokens) === null) {
    return refused('max_tokens: must be greater than or equal to 1');
  }
  if (isMembers(body.thread)) return { error: noThreads };
  if (!Array.isArray(messages)) return refused('messages: Field required');
  const refusal = refusalOf(body, messages);
  if (refusal !== null) return refused(refusal);
  if (!messagesModels.includes(model)) return { error: unknownModel(model) };
  return requestOf(body, model, membersOf(messages), version);
}

function requestOf(
  body: Members,
  model: string,
  messages: Members[],
  version: string,
): MessagesRequest {
  const texts = messages.map((message) => (message.role === 'user' ? ownText(message) : null));
  const { directive, at } = findDirective(texts);
  const inputTokens = inputTokensOf(body, messages);
  const thinking = isMembers(body.thinking) ? body.thinking : {};
  const shown = thinking.type === 'disabled' ? { ...directive, reasoningTokens: 0 } : directive;
  const { custom, searchCountMax } = declared(body);
  const later = messages.slice(at + 1).flatMap(blocksOf);
  const plan = planAnswer({
    directive: shown,
    inputTokens,
    declaredTools: custom.map((tool) => String(tool.name)),
    forced: forcedOf(body, custom) ?? askedTool(texts, at, custom.map(callOf)),
    toolResultCount: later.filter((block) => block.type === 'tool_result').length,
    schema: schemaOf(body),
    outputTokensMax: positiveOf(body.max_tokens),
    searchCountMax,
    stopSequences: stringsOf(body.stop_sequences),
    refusalIsSpoken: false,
    texts,
    pictures: () => picturesOf(messages.map(({ content }) => content)),
  });
  return {
    model,
    stream: body.stream === true,
    directive,
    plan,
    inputTokens,
    usageOnce: version === '2023-06-01',
    thinkingHidden: thinking.display === 'omitted',
    searchQuery: withoutDirective(texts.findLast((text) => text !== null) ?? '').slice(0, 80),
  };
}

function refused(message: string): { error: MessagesError } {
  return { error: invalidRequest(message) };
}

/** Own tools, and how often the provider's search may be used. */
function declared(body: Members): { custom: Members[]; searchCountMax: number | null } {
  const choice = isMembers(body.tool_choice) ? body.tool_choice.type : 'auto';
  if (choice === 'none') return { custom: [], searchCountMax: null };
  const tools = membersOf(body.tools);
  const search = tools.find(({ type }) => typeof type === 'string' && /^web_search_/.test(type));
  const custom = tools.filter((tool) => tool !== search && typeof tool.name === 'string');
  const searchCountMax = search === undefined ? null : (positiveOf(search.max_uses) ?? Infinity);
  return { custom, searchCountMax };
}

function forcedOf(body: Members, tools: Members[]): ForcedCall | null {
  const choice = isMembers(body.tool_choice) ? body.tool_choice : {};
  if (choice.type !== 'any' && choice.type !== 'tool') return null;
  const tool = choice.type === 'any' ? tools[0] : tools.find(({ name }) => name === choice.name);
  return tool === undefined ? null : callOf(tool);
}

function callOf({ name, input_schema: schema }: Members): ForcedCall {
  return { name: String(name), schema };
}

function schemaOf(body: Members): unknown {
  const format = isMembers(body.output_config) ? body.output_config.format : body.output_format;
  if (!isMembers(format) || format.type !== 'json_schema') return null;
  return format.schema ?? { type: 'object' };
}

function inputTokensOf(body: Members, messages: Members[]): number {
  const system = countWords(textOf(blocksOf({ content: body.system })));
  return messages.reduce((sum, message) => sum + countWords(textOf(blocksOf(message))), system);
}

/** The text of a message itself, without what is quoted in tool results. */
function ownText(message: Members): string {
  return textOf(blocksOf(message).filter((block) => block.type === 'text'));
}

function textOf(blocks: Members[]): string {
  const texts = blocks.map((block) => {
    if (block.type === 'tool_result') return textOf(blocksOf(block));
    return typeof block.text === 'string' ? block.text : '';
  });
  return texts.join(' ');
}

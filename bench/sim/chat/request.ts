// Reads what the simulator needs from a Chat Completions body, and refuses what the provider would.
import { countWords, type ForcedCall, type Plan, planAnswer } from '../answer.ts';
import { type Directive, findDirective } from '../directive.ts';
import { isMembers, type Members, membersOf, positiveOf, stringsOf } from '../members.ts';
import { askedTool } from '../question.ts';
import { picturesOf } from '../sight/pictures.ts';
import { callIdsRefusal, filesRefusal, pairsRefusal, stopRefusal, toolsRefusal } from './check.ts';
import { type ChatError, invalidRequest, unknownModel } from './failure.ts';

/** Ids with another name and length than any public alias. */
export const chatModels: readonly string[] = [
  'simulated-chat-large-2026-01-15',
  'simulated-chat-small-2026-01-15',
  'simulated-chat-tiered-2026-01-15',
];

export interface ChatRequest {
  model: string;
  stream: boolean;
  includeUsage: boolean;
  obfuscate: boolean;
  directive: Directive;
  plan: Plan;
}

export function readChatRequest(body: unknown): ChatRequest | { error: ChatError } {
  if (!isMembers(body)) {
    return { error: invalidRequest('We could not parse the JSON body of your request.', null) };
  }
  const { model, messages } = body;
  if (typeof model !== 'string') {
    return { error: invalidRequest('you must provide a model parameter', null) };
  }
  if (!chatModels.includes(model)) return { error: unknownModel(model) };
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isMessage)) {
    return { error: invalidRequest("Invalid 'messages': expected a non-empty array.", 'messages') };
  }
  const refusal =
    toolsRefusal(body) ??
    callIdsRefusal(messages) ??
    pairsRefusal(messages) ??
    filesRefusal(messages) ??
    stopRefusal(body);
  if (refusal !== null) return { error: refusal };
  const isUser = (message: Members) => message.role === 'user';
  const texts = messages.map((message) => (isUser(message) ? textOf(message) : null));
  const { directive, at } = findDirective(texts);
  const options = isMembers(body.stream_options) ? body.stream_options : {};
  return {
    model,
    stream: body.stream === true,
    includeUsage: options.include_usage === true && directive.fault !== 'no_usage',
    obfuscate: options.include_obfuscation !== false,
    directive,
    plan: planOf(body, messages, texts, directive, at),
  };
}

function planOf(
  body: Members,
  messages: Members[],
  texts: readonly (string | null)[],
  directive: Directive,
  at: number,
): Plan {
  const later = messages.slice(at + 1);
  const tools = body.tool_choice === 'none' ? [] : declaredTools(body.tools);
  return planAnswer({
    directive,
    inputTokens: messages.reduce((sum, message) => sum + countWords(textOf(message)), 0),
    declaredTools: tools.map(({ name }) => name),
    forced: forcedOf(body.tool_choice, tools) ?? askedTool(texts, at, tools),
    toolResultCount: later.filter((message) => message.role === 'tool').length,
    schema: schemaOf(body.response_format),
    outputTokensMax: positiveOf(body.max_completion_tokens ?? body.max_tokens),
    searchCountMax: null,
    stopSequences: typeof body.stop === 'string' ? [body.stop] : stringsOf(body.stop),
    refusalIsSpoken: true,
    texts,
    pictures: () => picturesOf(messages.map(({ content }) => content)),
  });
}

function declaredTools(tools: unknown): ForcedCall[] {
  return membersOf(tools).flatMap((tool) => {
    const declared = tool.function;
    if (!isMembers(declared) || typeof declared.name !== 'string') return [];
    return [{ name: declared.name, schema: declared.parameters }];
  });
}

function forcedOf(choice: unknown, tools: ForcedCall[]): ForcedCall | null {
  if (choice === 'required') return tools[0] ?? null;
  const wanted = isMembers(choice) && isMembers(choice.function) ? choice.function.name : null;
  return tools.find(({ name }) => name === wanted) ?? null;
}

function schemaOf(format: unknown): unknown {
  if (!isMembers(format)) return null;
  if (format.type === 'json_object') return { type: 'object' };
  if (format.type !== 'json_schema' || !isMembers(format.json_schema)) return null;
  return format.json_schema.schema ?? { type: 'object' };
}

function textOf(message: Members): string {
  const { content } = message;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const texts = content.map((part) => (isMembers(part) ? part.text : null));
  return texts.filter((text) => typeof text === 'string').join(' ');
}

function isMessage(value: unknown): value is Members {
  return isMembers(value) && typeof value.role === 'string';
}

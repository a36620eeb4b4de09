// Reads what the simulator needs from a generateContent body, and refuses what the provider would.
import { countWords, type ForcedCall, type Plan, planAnswer } from '../answer.ts';
import { type Directive, findDirective, withoutDirective } from '../directive.ts';
import { isMembers, type Members, membersOf, positiveOf, stringsOf } from '../members.ts';
import { askedTool } from '../question.ts';
import { picturesOf } from '../sight/pictures.ts';
import { camel, refusalOf } from './check.ts';
import { type GeminiError, invalidArgument, unknownModel } from './failure.ts';
import { asJsonSchema } from './schema.ts';

/** Ids with another name and length than any public alias. */
export const geminiModels: readonly string[] = [
  'simulated-gemini-large-2026-01-15',
  'simulated-gemini-small-2026-01-15',
  'simulated-gemini-tiered-2026-01-15',
];

export interface GeminiRequest {
  model: string;
  stream: boolean;
  directive: Directive;
  plan: Plan;
  inputTokens: number;
  /** Thoughts are told only to those who ask for them. */
  includeThoughts: boolean;
  searchQuery: string;
}

export function readGeminiRequest(
  raw: unknown,
  model: string,
  method: string,
): GeminiRequest | { error: GeminiError } {
  if (!geminiModels.includes(model)) return { error: unknownModel(model, method) };
  if (!isMembers(raw)) return { error: invalidArgument('Invalid JSON payload received.') };
  const counted = method === 'countTokens' ? raw.generateContentRequest : undefined;
  const body = inCamel(isMembers(counted) ? counted : raw);
  const contents = membersOf(body.contents);
  const refusal = refusalOf(body, contents);
  if (refusal !== null) return { error: invalidArgument(refusal) };
  return requestOf(body, model, contents, method === 'streamGenerateContent');
}

function requestOf(
  body: Members,
  model: string,
  contents: Members[],
  stream: boolean,
): GeminiRequest {
  const texts = contents.map((content) => (content.role === 'model' ? null : ownText(content)));
  const { directive, at } = findDirective(texts);
  const config = isMembers(body.generationConfig) ? body.generationConfig : {};
  const thinking = isMembers(config.thinkingConfig) ? config.thinkingConfig : {};
  const system = isMembers(body.systemInstruction) ? [body.systemInstruction] : [];
  const inputTokens = [...system, ...contents].reduce(
    (sum, content) => sum + wordsOf(membersOf(content.parts)),
    0,
  );
  const tools = membersOf(body.tools);
  const mode = callingConfig(body);
  const declared =
    mode.mode === 'NONE'
      ? []
      : tools.flatMap((tool) => membersOf(tool.functionDeclarations).map(declaredOf));
  const searches = tools.some(({ googleSearch }) => googleSearch !== undefined);
  const later = contents.slice(at + 1).flatMap((content) => membersOf(content.parts));
  const plan = planAnswer({
    directive,
    inputTokens,
    declaredTools: declared.map(({ name }) => name),
    forced: forcedOf(mode, declared) ?? askedTool(texts, at, declared),
    toolResultCount: later.filter((part) => part.functionResponse !== undefined).length,
    schema: schemaOf(config),
    outputTokensMax: positiveOf(config.maxOutputTokens),
    searchCountMax: searches ? Infinity : null,
    stopSequences: stringsOf(config.stopSequences),
    refusalIsSpoken: false,
    texts,
    pictures: () => picturesOf(contents.map(({ parts }) => parts)),
  });
  return {
    model,
    stream,
    directive,
    plan,
    inputTokens,
    includeThoughts: thinking.includeThoughts === true,
    searchQuery: withoutDirective(texts.findLast((text) => text !== null) ?? '').slice(0, 80),
  };
}

/** Names of known members in one case; the values of users are left alone. */
function inCamel(value: Members): Members {
  const made: Members = {};
  const free = /^(args|response|parameters|parametersJsonSchema|labels|metadata)$|[sS]chema$/;
  for (const [name, entry] of Object.entries(value)) {
    const known = camel(name);
    made[known] = free.test(known) ? entry : nestedInCamel(entry);
  }
  return made;
}

function nestedInCamel(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(nestedInCamel);
  return isMembers(value) ? inCamel(value) : value;
}

function declaredOf(tool: Members): ForcedCall {
  const { name, parameters, parametersJsonSchema } = tool;
  return { name: String(name), schema: parametersJsonSchema ?? asJsonSchema(parameters) };
}

function callingConfig(body: Members): Members {
  const config = isMembers(body.toolConfig) ? body.toolConfig.functionCallingConfig : null;
  return isMembers(config) ? config : {};
}

function forcedOf(mode: Members, declared: ForcedCall[]): ForcedCall | null {
  if (mode.mode !== 'ANY') return null;
  const [allowed] = stringsOf(mode.allowedFunctionNames);
  const found = declared.find(({ name }) => allowed === undefined || name === allowed);
  return found ?? null;
}

function schemaOf(config: Members): unknown {
  if (config.responseMimeType !== 'application/json') return null;
  return config.responseJsonSchema ?? asJsonSchema(config.responseSchema) ?? { type: 'object' };
}

/** The text of a content itself, without results of functions. */
function ownText(content: Members): string {
  const texts = membersOf(content.parts).map((part) => part.text);
  return texts.filter((text) => typeof text === 'string').join(' ');
}

function wordsOf(parts: Members[]): number {
  return parts.reduce((sum, part) => {
    const text = typeof part.text === 'string' && part.thought !== true ? countWords(part.text) : 0;
    const result = isMembers(part.functionResponse) ? part.functionResponse.response : null;
    return sum + text + leafWords(result);
  }, 0);
}

/** Results of functions are objects here: the words of every string in them. */
function leafWords(value: unknown): number {
  if (typeof value === 'string') return countWords(value);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, entry) => sum + leafWords(entry), 0);
}

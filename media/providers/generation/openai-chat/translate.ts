// Neutral messages, tools and settings → their Chat Completions form, for requests that came in
// another format or whose messages were changed on the way.
import type {
  ContentPart,
  FunctionTool,
  GenerationRequest,
  Message,
  NativeMembers,
  ToolChoice,
} from '../../../model/request.ts';
import { readTextFile } from '../../../transport/data-url.ts';
import { isMembers, type Members } from '../../../transport/members.ts';
import { effortOf, toldReasoning } from '../effort.ts';
import { fileName } from '../file-name.ts';
import { scoresOf } from '../told.ts';
import { standIns, turnsOf, wordedResult } from '../turns.ts';
import { encodeFunction } from './custom-tools.ts';
import { giveBack } from './returned.ts';

/** `server`: see `serverName`. What it wants back is marked so. */
export function encodeMessages(messages: readonly Message[], server: string): Members[] {
  return turnsOf(messages).flatMap(({ message, results }) => {
    const turn = [message, ...results].map(withWords);
    const said = turn.filter(isSayable).map((one) => encodeMessage(one, server));
    return [...said, ...shownBeside(turn)];
  });
}

/** The vendor takes no files but PDF, many servers none: what a text file says is text here. */
function withWords(message: Message): Message {
  if (!message.parts.some(({ type }) => type === 'file')) return message;
  const parts = message.parts.map((part): ContentPart => {
    const text = part.type === 'file' ? readTextFile(part.url) : null;
    if (part.type !== 'file' || text === null) return part;
    return { type: 'text', text: part.name === null ? text : `${part.name}\n${text}` };
  });
  return { ...message, parts };
}

/** Results are text alone here: the images and files among them follow as words of the user's. */
function shownBeside(turn: readonly Message[]): Members[] {
  const shown = turn.flatMap(({ role, parts, toolCallId }): ContentPart[] => {
    const others = parts.filter(({ type }) => type !== 'text');
    if (role !== 'tool' || others.length === 0) return [];
    return [{ type: 'text', text: `(With the result of ${toolCallId}:)` }, ...others];
  });
  return shown.length === 0 ? [] : [{ role: 'user', content: encodeParts(shown) }];
}

/** A message of nothing but another format's parts would be an empty one. */
function isSayable({ role, parts, toolCalls, returned }: Message): boolean {
  if (role === 'tool' || toolCalls.length > 0) return true;
  if (parts.length === 0) return returned === undefined;
  return parts.some((part) => part.type !== 'native' || part.format === 'chat');
}

function encodeMessage(message: Message, server: string): Members {
  const { role, parts, toolCalls } = message;
  const beside = ownOf(message);
  if (role === 'tool') {
    const content = plainText(wordedResult(message));
    return { role, tool_call_id: message.toolCallId ?? '', content, ...beside };
  }
  if (role === 'system' || role === 'developer')
    return { role: 'system', content: plainText(parts), ...beside };
  const content = encodeParts(parts);
  if (role === 'user') return { role, content, ...beside };
  const isEmpty = content.length === 0;
  const silence = toolCalls.length > 0 ? null : standIns.noWords;
  const encoded: Members = { role, content: isEmpty ? silence : content, ...beside };
  if (toolCalls.length > 0) {
    encoded.tool_calls = toolCalls.map((call) => encodeCall(call, server));
  }
  giveBack(message, server, encoded);
  return encoded;
}

/** There may be more of it than all formats know. */
function encodeCall(call: Message['toolCalls'][number], server: string): Members {
  const { id, name, arguments: text, custom: input, returned } = call;
  const own = returned?.server === server ? { ...ownOf(call), ...returned.members } : ownOf(call);
  if (input !== undefined) return { id, type: 'custom', custom: { name, input }, ...own };
  const inner = isMembers(own.function) ? own.function : {};
  const called = { name, arguments: text, ...inner };
  return { id, type: 'function', ...own, function: called };
}

/** What a client of the same format said besides. */
function ownOf({ own }: NativeMembers): Members {
  return own?.format === 'chat' ? own.value : {};
}

/** Text alone is a string: many compatible servers know no lists of parts. */
function encodeParts(parts: readonly ContentPart[]): string | Members[] {
  if (parts.every((part) => part.type === 'text')) return plainText(parts);
  return parts.flatMap((part): Members[] => {
    switch (part.type) {
      case 'text':
        return [{ type: 'text', text: part.text }];
      case 'image': {
        const detail = part.detail === null ? {} : { detail: part.detail };
        return [{ type: 'image_url', image_url: { url: part.url, ...detail } }];
      }
      case 'file': {
        // Without a name the vendor refuses the data, in words about a missing file_id.
        const filename = fileName(part.name, part.url);
        return [{ type: 'file', file: { filename, file_data: part.url } }];
      }
      default:
        return part.format === 'chat' ? [part.value] : [];
    }
  });
}

/** Parts of their own stay apart, as servers join them: words must not grow together. */
function plainText(parts: readonly ContentPart[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n');
}

/** More are refused by the vendor (Chat Completions reference: `stop`). */
const stopSequencesMax = 4;

/** Stop sequences beyond those that the provider takes, of clients that were promised more. */
export function unwatched({ sampling, source }: GenerationRequest): readonly string[] {
  return source.format === 'chat' ? [] : sampling.stop.slice(stopSequencesMax);
}

/** Sampling, tools and reasoning effort, as far as they were given. */
export function encodeSettings(request: GenerationRequest, body: Members, reasons: boolean): void {
  const { sampling, tools, toolChoice, parallelToolCalls } = request;
  const reasoning = toldReasoning(request.reasoning, reasons);
  const settings: Members = {
    temperature: sampling.temperature,
    top_p: sampling.topP,
    seed: sampling.seed,
    presence_penalty: sampling.presencePenalty,
    frequency_penalty: sampling.frequencyPenalty,
    stop: sampling.stop.length === 0 ? null : sampling.stop.slice(0, stopSequencesMax),
    reasoning_effort: reasoning === null ? null : effortOf(reasoning),
  };
  for (const [name, value] of Object.entries(settings)) if (value !== null) body[name] = value;
  const scores = scoresOf(request);
  if (scores !== null) body.logprobs = true;
  if (scores !== null && scores > 0) body.top_logprobs = scores;
  if (tools.length === 0) return;
  body.tools = tools.map(encodeTool);
  if (toolChoice !== null) body.tool_choice = encodeChoice(toolChoice, tools);
  if (parallelToolCalls !== null) body.parallel_tool_calls = parallelToolCalls;
}

function encodeTool(tool: FunctionTool): Members {
  const { name, custom } = tool;
  if (custom === undefined) return encodeFunction(tool);
  const declared: Members = { name };
  if (custom.description !== null) declared.description = custom.description;
  if (custom.format !== null) declared.format = encodeTextFormat(custom.format);
  return { type: 'custom', custom: declared };
}

/** Here a grammar is an object beside the type. */
function encodeTextFormat({ type, ...grammar }: Members): Members {
  return type === 'grammar' ? { type, grammar } : { type };
}

function encodeChoice(choice: ToolChoice, tools: readonly FunctionTool[]): unknown {
  if (typeof choice === 'string') return choice;
  const isCustom = tools.some(({ name, custom }) => name === choice.name && custom !== undefined);
  return isCustom ? { type: 'custom', custom: choice } : { type: 'function', function: choice };
}

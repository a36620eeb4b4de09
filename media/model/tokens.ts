// Token counts where a provider reports none, and the cheap estimate that holds are made of.
import { Buffer } from 'node:buffer';
import { fixedLimits } from '../../runtime/limits.ts';
import { attachmentCharacters, attachmentTokens } from './attachments.ts';
import type { GenerationRequest, Message } from './request.ts';

/** What a message costs beside its text. */
const tokensPerMessage = 4;
const bytesPerToken = 4;
const { longBytesMin } = fixedLimits.body;
/** The tokenizer is quadratic on runs without a break: longer ones are cut. */
const runCharactersMax = 256;
/** Bounded above: what a quantifier may give back waits on a stack, which 8 MB overflow. */
const longRuns = /\S{257,4096}|\s{257,4096}/g;

type Counter = (text: string) => number;
let counter: Promise<Counter> | null = null;

/** Loads the tokenizer (about 2 MB) on first use. */
export function loadTokenCounter(): Promise<Counter> {
  counter ??= import('gpt-tokenizer/encoding/o200k_base').then(
    (encoding) => (text: string) => countWith(encoding.countTokens, text),
  );
  return counter;
}

/** Tokens of a text by the tokenizer; about 11 MB of text a second. */
export async function countTokens(text: string): Promise<number> {
  return (await loadTokenCounter())(text);
}

/** All that a provider would count of a request, as one text: messages, tool calls and tools. */
export function inputText({ messages, tools }: GenerationRequest): string {
  const texts = messages.flatMap((message) => [
    ...message.parts.map((part) => (part.type === 'text' ? part.text : '')),
    ...message.toolCalls.map((call) => call.name + call.arguments),
  ]);
  if (tools.length > 0) texts.push(JSON.stringify(tools));
  return texts.join('\n');
}

/** Estimated input tokens, without a tokenizer: bytes / 4, 4 a message, and attachments. */
export function estimateInputTokens(request: GenerationRequest): number {
  let bytes = 0;
  for (const message of request.messages) bytes += textBytes(message);
  if (request.tools.length > 0) bytes += Buffer.byteLength(JSON.stringify(request.tools));
  if (request.outputFormat.type === 'json_schema') {
    bytes += Buffer.byteLength(JSON.stringify(request.outputFormat.schema));
  }
  const perMessage = tokensPerMessage * request.messages.length;
  return Math.ceil(bytes / bytesPerToken) + perMessage + attachmentTokens(request);
}

/** Of what is added to a request. */
export function estimateTextTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

/** Chinese, Japanese and Korean, in which hardly a token has more than a character. */
const denseScripts = /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]/;
const denseCharacters = new RegExp(denseScripts, 'g');

/**
 * The length of a text, in which a character of dense scripts counts as three, as it does in the
 * bytes that inputs are estimated by. Most texts are Latin: they are only searched.
 */
export function weightOf(text: string): number {
  if (!denseScripts.test(text)) return text.length;
  return text.length + 2 * (text.match(denseCharacters)?.length ?? 0);
}

/**
 * Whether what is done with all of a request takes turns of the loop of its own. Images and
 * documents count by their bytes, which are no tokens.
 */
export function isLongRequest(
  request: GenerationRequest,
  inputTokens: number = estimateInputTokens(request),
): boolean {
  return inputTokens * bytesPerToken + attachmentCharacters(request) >= longBytesMin;
}

function textBytes(message: Message): number {
  let bytes = 0;
  for (const part of message.parts) if (part.type === 'text') bytes += Buffer.byteLength(part.text);
  for (const call of message.toolCalls) {
    bytes += Buffer.byteLength(call.name) + Buffer.byteLength(call.arguments);
  }
  return bytes;
}

/** Text that looks like a control token is counted as the text it is. */
const asText = { disallowedSpecial: new Set<string>() };

function countWith(count: (text: string, options: typeof asText) => number, text: string): number {
  let tokens = 0;
  let position = 0;
  for (const run of text.matchAll(longRuns)) {
    if (run.index > position) tokens += count(text.slice(position, run.index), asText);
    position = run.index + run[0].length;
    tokens += countRun(count, run[0]);
  }
  return tokens + (position < text.length ? count(text.slice(position), asText) : 0);
}

function countRun(count: (text: string, options: typeof asText) => number, run: string): number {
  let tokens = 0;
  for (let start = 0; start < run.length; ) {
    let end = Math.min(start + runCharactersMax, run.length);
    const last = run.charCodeAt(end - 1);
    if (end < run.length && last >= 0xd800 && last < 0xdc00) end -= 1;
    tokens += count(run.slice(start, end), asText);
    start = end;
  }
  return tokens;
}

// What images, documents, sound and other parts that are no text of ours weigh in tokens, guessed
// from their sizes: for holds, and for answers whose provider reports nothing. What a guess is too
// low by, a nearly empty wallet gets for nothing; what it is too high by is only held.
import { isTextFile } from './file-url.ts';
import type { ContentPart, GenerationRequest } from './request.ts';

const tokensPerImage = 1_024;
const charactersPerToken = 4;
/** One page, which providers read as text and as a picture. */
const tokensPerPage = 1_500;
/** Of a file whose size only its provider will see. */
const tokensPerUnseenFile = 2 * tokensPerPage;
const bytesPerPage = 75_000;
/** More pages than this are refused by providers (Anthropic and OpenAI: PDF support). */
const pagesMax = 100;
/** 32 tokens a second (Gemini: audio understanding; others count fewer), of 16 kHz in 16 bits. */
const wavBytesPerToken = 1_000;
/** As much of 64 kbit/s. */
const packedBytesPerToken = 250;
/** Members of that name hold base64 in every format; short ones may be anything. */
const binaryNames: ReadonlySet<string> = new Set(['data', 'file_data', 'image_url']);
const binaryCharactersMin = 1_024;
/** Thinking that is handed back: providers leave it out again, or count it as no input. */
const thinkingTypes: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking', 'reasoning']);
const soundType = /^data:\s*audio\//i;
const base64Mark = /;\s*base64\s*$/i;

/** Tokens of all parts that `inputText` does not show. */
export function attachmentTokens({ messages }: GenerationRequest): number {
  let tokens = 0;
  for (const { parts } of messages) {
    for (const part of parts) if (part.type !== 'text') tokens += tokensOf(part);
  }
  return tokens;
}

/** Those of them that are sound, which may have a price of its own. */
export function soundTokens({ messages }: GenerationRequest): number {
  let tokens = 0;
  for (const { parts } of messages) {
    for (const part of parts) if (isSound(part)) tokens += tokensOf(part);
  }
  return tokens;
}

function isSound(part: ContentPart): part is Exclude<ContentPart, { type: 'text' }> {
  if (part.type === 'native') return part.value.type === 'input_audio';
  return part.type === 'file' && soundType.test(part.url.slice(0, 64));
}

/** Characters of the same parts as they stand in the body, about. */
export function attachmentCharacters({ messages }: GenerationRequest): number {
  let characters = 0;
  for (const { parts } of messages) {
    for (const part of parts) {
      if (part.type === 'image' || part.type === 'file') characters += part.url.length;
      else if (part.type === 'native') characters += sizeOf(part.value).characters;
    }
  }
  return characters;
}

function tokensOf(part: Exclude<ContentPart, { type: 'text' }>): number {
  if (part.type === 'image') return tokensPerImage;
  if (part.type === 'file') return fileTokens(part.url);
  const { type, input_audio: sound } = part.value;
  if (thinkingTypes.has(type)) return 0;
  if (type === 'input_audio' && isObject(sound)) return clipTokens(sound);
  return sizeOf(part.value).tokens;
}

/** `url`: as the client gave it. */
function fileTokens(url: string): number {
  // The head alone: a document of 9 MB is not searched for its comma.
  const head = url.slice(0, 256);
  const comma = head.indexOf(',');
  if (comma < 0 || !/^data:/i.test(head)) return tokensPerUnseenFile;
  const mediaType = head.slice('data:'.length, comma);
  const characters = url.length - comma - 1;
  const bytes = base64Mark.test(mediaType) ? bytesOf(characters) : characters;
  if (soundType.test(head)) return packedTokens(bytes, /wav/i.test(mediaType));
  if (isTextFile(head)) return Math.ceil(bytes / charactersPerToken);
  return binaryTokens(bytes);
}

function binaryTokens(bytes: number): number {
  const pages = Math.min(Math.max(bytes / bytesPerPage, 1), pagesMax);
  return Math.ceil(pages * tokensPerPage);
}

function clipTokens({ data, format }: Record<string, unknown>): number {
  if (typeof data !== 'string') return 0;
  return packedTokens(bytesOf(data.length), format === 'wav');
}

function packedTokens(bytes: number, isWav: boolean): number {
  return Math.ceil(bytes / (isWav ? wavBytesPerToken : packedBytesPerToken));
}

/** Of a part that only its own format understands. The body's depth is bounded. */
function sizeOf(value: unknown, name = ''): { tokens: number; characters: number } {
  if (typeof value === 'string') {
    const characters = value.length;
    const isBinary = binaryNames.has(name) && characters >= binaryCharactersMin;
    const tokens =
      isBinary && !value.includes(' ')
        ? binaryTokens(bytesOf(characters))
        : Math.ceil(characters / charactersPerToken);
    return { tokens, characters };
  }
  let [tokens, characters] = [0, 0];
  if (!isObject(value)) return { tokens, characters };
  const isList = Array.isArray(value);
  for (const member of Object.keys(value)) {
    const size = sizeOf(value[member], isList ? name : member);
    tokens += size.tokens;
    characters += size.characters;
  }
  return { tokens, characters };
}

function bytesOf(base64Characters: number): number {
  return (base64Characters * 3) / 4;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

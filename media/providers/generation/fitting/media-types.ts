// What images, documents and sound are by their first bytes. Clients name the type by a file's
// ending, or always the same; providers look, and refuse the request.
import type { ContentPart, GenerationRequest, Message } from '../../../model/request.ts';
import { isMembers, type Members } from '../../../transport/members.ts';

type Media = Extract<ContentPart, { type: 'image' | 'file' }>;

/** Other names of a type: providers know them. */
const sameTypes: ReadonlyMap<string, string> = new Map([
  ['audio/mp3', 'audio/mpeg'],
  ['audio/wave', 'audio/wav'],
  ['audio/x-wav', 'audio/wav'],
  ['audio/x-flac', 'audio/flac'],
  ['application/x-pdf', 'application/pdf'],
]);

const signatures: readonly (readonly [mediaType: string, bytes: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF.{4}WEBP/s],
  ['application/pdf', /^%PDF-/],
  ['audio/wav', /^RIFF.{4}WAVE/s],
  ['audio/mpeg', /^(?:ID3|\xff[\xfb\xf3\xf2])/],
  ['audio/flac', /^fLaC/],
  ['audio/ogg', /^OggS/],
];

/** As much base64 as the longest signature takes. */
const headCharacters = 24;
/** The head alone: an image of 9 MB is not searched for its comma. */
const declaredCharactersMax = 256;
const dataUrl = /^data:\s*([^;,\s]*)[^,]*;\s*base64\s*,/i;

/** The body of the client's has the types too: it is not forwarded where one is changed. */
export function withTypesOfBytes(request: GenerationRequest): GenerationRequest {
  const { messages, source } = request;
  if (!messages.some(({ parts }) => parts.some(isMistaken))) return request;
  return {
    ...request,
    messages: messages.map((message): Message => {
      if (!message.parts.some(isMistaken)) return message;
      return { ...message, parts: message.parts.map(corrected) };
    }),
    source: { ...source, rewritten: true },
  };
}

function isMistaken(part: ContentPart): boolean {
  return part.type !== 'text' && corrected(part) !== part;
}

function corrected(part: ContentPart): ContentPart {
  switch (part.type) {
    case 'image':
    case 'file':
      return correctedUrl(part);
    case 'native':
      return correctedSound(part);
    default:
      return part;
  }
}

function correctedUrl(part: Media): ContentPart {
  const { url } = part;
  const [head, declared = ''] = dataUrl.exec(url.slice(0, declaredCharactersMax)) ?? [];
  if (head === undefined) return part;
  const mediaType = typeOf(url.slice(head.length, head.length + headCharacters));
  const named = declared.toLowerCase();
  if (mediaType === null || (sameTypes.get(named) ?? named) === mediaType) return part;
  return retyped(part, mediaType, `data:${mediaType};base64,${url.slice(head.length)}`);
}

/** A picture that was called a document is one, and the reverse. */
function retyped(part: Media, mediaType: string, url: string): ContentPart {
  const isImage = mediaType.startsWith('image/');
  if (isImage === (part.type === 'image')) return { ...part, url };
  const { cacheControl } = part;
  const mark = cacheControl === undefined ? {} : { cacheControl };
  return isImage
    ? { type: 'image', url, detail: null, ...mark }
    : { type: 'file', url, name: null, ...mark };
}

/** Sound of Chat says its format beside its data. */
function correctedSound(part: Extract<ContentPart, { type: 'native' }>): ContentPart {
  const { input_audio: sound } = part.value;
  if (!isMembers(sound) || typeof sound.data !== 'string') return part;
  const format = formatOf(sound.data);
  if (format === null || format === sound.format) return part;
  const value: Members = { ...part.value, input_audio: { ...sound, format } };
  return { ...part, value };
}

function formatOf(base64: string): string | null {
  const mediaType = typeOf(base64.slice(0, headCharacters));
  if (mediaType === null || !mediaType.startsWith('audio/')) return null;
  return mediaType === 'audio/mpeg' ? 'mp3' : mediaType.slice('audio/'.length);
}

function typeOf(base64: string): string | null {
  const bytes = Buffer.from(base64, 'base64').toString('latin1');
  return signatures.find(([, signature]) => signature.test(bytes))?.[0] ?? null;
}

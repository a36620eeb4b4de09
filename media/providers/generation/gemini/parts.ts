// Parts of messages → parts of a content: text, data as data, addresses as files.
import { isTextFile } from '../../../model/file-url.ts';
import type { ContentPart } from '../../../model/request.ts';
import { readDataUrl } from '../../../transport/data-url.ts';
import { isMembers, type Members, wordOf } from '../../../transport/members.ts';

/** Whether a part has a form here: of what only another format says, audio alone has. */
export function isExpressible(part: ContentPart): boolean {
  if (part.type === 'file') return isWebUrl(part.url) || readDataUrl(part.url) !== null;
  return part.type !== 'native' || isAudio(part.value);
}

export function encodeParts(parts: readonly ContentPart[]): Members[] {
  return parts.flatMap((part): Members[] => {
    switch (part.type) {
      case 'text':
        return part.text === '' ? [] : [{ text: part.text }];
      case 'image':
        return [encodeMedia(part.url, 'image/jpeg')];
      case 'file':
        return [encodeMedia(part.url, 'application/pdf')];
      default:
        return encodeNative(part.value);
    }
  });
}

/** Audio; the rest is of use to its own format alone. */
function encodeNative(value: Members): Members[] {
  if (!isAudio(value)) return [];
  const { data, format } = value.input_audio;
  return [{ inlineData: { mimeType: `audio/${wordOf(format ?? 'wav')}`, data } }];
}

function isAudio(value: Members): value is Members & { input_audio: Members } {
  return isMembers(value.input_audio) && typeof value.input_audio.data === 'string';
}

function encodeMedia(url: string, fallbackType: string): Members {
  const inline = readDataUrl(url);
  if (inline !== null) {
    const { mediaType, base64: data } = inline;
    const isSource = mediaType.startsWith('application/') && isTextFile(url);
    return { inlineData: { mimeType: isSource ? 'text/plain' : mediaType || 'text/plain', data } };
  }
  return { fileData: { mimeType: typeOf(url) ?? fallbackType, fileUri: url } };
}

const typesByEnding: Readonly<Record<string, string>> = {
  gif: 'image/gif',
  heic: 'image/heic',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  pdf: 'application/pdf',
  png: 'image/png',
  txt: 'text/plain',
  webp: 'image/webp',
};

function typeOf(url: string): string | null {
  const ending = /\.([a-z]{3,4})(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase() ?? '';
  return typesByEnding[ending] ?? null;
}

function isWebUrl(url: string): boolean {
  return /^https?:\/\//i.test(url);
}

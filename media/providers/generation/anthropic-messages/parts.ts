// Neutral content parts → content blocks. Empty text is left out: the provider refuses it.
import type { ContentPart, Message, NativeMembers } from '../../../model/request.ts';
import { isSealed } from '../../../model/seals.ts';
import { readDataUrl, readTextFile } from '../../../transport/data-url.ts';
import type { Members } from '../../../transport/members.ts';

export function encodeParts(parts: readonly ContentPart[]): Members[] {
  return parts.flatMap((part): Members[] => {
    switch (part.type) {
      case 'text': {
        if (part.original?.format === 'messages') return [part.original.value];
        if (part.text.trim() === '') return [];
        return [{ type: 'text', text: part.text, ...cacheMark(part), ...ownOf(part) }];
      }
      case 'image':
        return [
          { type: 'image', source: imageSource(part.url), ...cacheMark(part), ...ownOf(part) },
        ];
      case 'file': {
        const beside = { ...cacheMark(part), ...ownOf(part) };
        return encodeFile(part.url, part.name).map((block) => ({ ...block, ...beside }));
      }
      default:
        return part.format === 'messages' && isSigned(part.value) ? [part.value] : [];
    }
  });
}

/** Where the client wants what it has written so far to be cached. */
export function cacheMark({ cacheControl }: Pick<Message, 'cacheControl'>): Members {
  return cacheControl === undefined ? {} : { cache_control: cacheControl };
}

/** What a client of the same format said of it besides. */
export function ownOf({ own }: NativeMembers): Members {
  return own?.format === 'messages' ? own.value : {};
}

/** Thinking of a model of another format has no signature, or one that we sealed. */
export function isSigned({ type, signature }: Members): boolean {
  if (type !== 'thinking') return true;
  return typeof signature === 'string' && signature !== '' && !isSealed(signature);
}

function imageSource(url: string): Members {
  const data = readDataUrl(url);
  if (data === null) return { type: 'url', url };
  return { type: 'base64', media_type: data.mediaType || 'image/png', data: data.base64 };
}

function encodeFile(url: string, name: string | null): Members[] {
  const title = name === null ? {} : { title: name };
  const data = readDataUrl(url);
  if (data === null) {
    return /^https?:/.test(url)
      ? [{ type: 'document', source: { type: 'url', url }, ...title }]
      : [];
  }
  const text = readTextFile(url);
  if (text !== null) {
    const source = { type: 'text', media_type: 'text/plain', data: text };
    return [{ type: 'document', source, ...title }];
  }
  const media_type = data.mediaType || 'application/pdf';
  return [
    { type: 'document', source: { type: 'base64', media_type, data: data.base64 }, ...title },
  ];
}

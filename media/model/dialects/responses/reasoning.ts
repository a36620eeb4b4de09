// Reasoning as clients carry it from turn to turn. What a provider needs to take it back (its own
// item id with the encrypted content, or a signature) travels sealed in `encrypted_content`, so
// that no upstream id shows and thinking of another format survives the way through this one.
import { Buffer } from 'node:buffer';
import type { NativeValue } from '../../events.ts';
import { namesMedia } from '../../media-url.ts';
import type { ContentPart, WireFormat } from '../../request.ts';

const mark = 'svc1.';
const formats: ReadonlySet<string> = new Set(['responses', 'messages']);

export type Members = Record<string, unknown>;

/** Whether a text was sealed here: it means nothing to any provider. */
export function isSealed(text: string): boolean {
  return text.startsWith(mark);
}

/** The `encrypted_content` of a reasoning item that we show; null: its provider wants nothing. */
export function sealReasoning({ format, value }: NativeValue): string | null {
  const kept = format === 'responses' ? keptOf(value) : value;
  if (kept === null) return null;
  return mark + Buffer.from(JSON.stringify([format, kept])).toString('base64url');
}

/** What is not shown of an item goes back; of an open model's that is its text. */
function keptOf({ id, encrypted_content: sealed, content }: Members): Members | null {
  if (typeof sealed === 'string' && sealed !== '') return { id, encrypted_content: sealed };
  return Array.isArray(content) && content.length > 0 ? { content } : null;
}

/**
 * A reasoning item of a client's input as the part that its provider takes back; null: nobody can
 * (without encrypted content it would be looked up at a provider that stores nothing).
 */
export function openReasoning(item: Members): ContentPart | null {
  const { encrypted_content: sealed } = item;
  if (typeof sealed !== 'string' || sealed === '') {
    const carriesText = Array.isArray(item.content) && item.content.length > 0;
    return carriesText ? native('responses', withoutId(item)) : null;
  }
  if (!isSealed(sealed)) return native('responses', item);
  const opened = unseal(sealed.slice(mark.length));
  if (opened === null) return null;
  const { format, value } = opened;
  if (format === 'messages') return messagesBlock(item, value);
  return native(format, { summary: item.summary ?? [], ...value, type: 'reasoning' });
}

function unseal(text: string): NativeValue | null {
  try {
    const [format, value] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[];
    if (typeof format !== 'string' || !formats.has(format)) return null;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    // Nothing that we seal has such a member: the client made this himself.
    if (namesMedia(value)) return null;
    return { format: format as WireFormat, value: value as Members };
  } catch {
    return null;
  }
}

/** A signed block of thinking, whose text was shown as the summary, or a redacted one. The seal is
 * no signature: what a client has put into one himself is taken for nothing else. */
function messagesBlock(item: Members, value: Members): ContentPart | null {
  const { type = 'thinking' } = value;
  if (type === 'redacted_thinking') return native('messages', value);
  if (type !== 'thinking') return null;
  return native('messages', { type, thinking: summaryText(item.summary), ...value });
}

function summaryText(summary: unknown): string {
  if (!Array.isArray(summary)) return '';
  return summary
    .map((part: unknown) => {
      const text = typeof part === 'object' && part !== null ? (part as Members).text : null;
      return typeof text === 'string' ? text : '';
    })
    .join('');
}

function withoutId(item: Members): Members {
  const { id: _id, ...kept } = item;
  return kept;
}

function native(format: WireFormat, value: Members): ContentPart {
  return { type: 'native', format, value };
}

// Reasoning as clients carry it from turn to turn. What a provider needs to take it back is its own
// item id with the encrypted content, or a signature. It travels sealed in `encrypted_content`: no
// upstream id shows, and thinking of another format survives the way through this one.
import type { NativeValue } from '../../events.ts';
import type { ContentPart, Returned, WireFormat } from '../../request.ts';
import { returnedIn } from '../../returned.ts';
import { isSealed, type Seals } from '../../seals.ts';

export type Members = Record<string, unknown>;

/** A part that its provider takes back, or members that stand in its server's own message. */
export type OpenedReasoning = ContentPart | ({ type: 'returned' } & Returned);

/** The `encrypted_content` of a reasoning item that we show; null: its provider wants nothing. */
export function sealReasoning(
  { format, value }: NativeValue,
  seals: Pick<Seals, 'seal'>,
): string | null {
  const kept = format === 'responses' ? keptOf(value) : value;
  return kept === null ? null : seals.seal({ format, value: kept });
}

/** What is not shown of an item goes back; of an open model's that is its text. */
function keptOf({ id, encrypted_content: sealed, content }: Members): Members | null {
  if (typeof sealed === 'string' && sealed !== '') return { id, encrypted_content: sealed };
  return Array.isArray(content) && content.length > 0 ? { content } : null;
}

/**
 * A reasoning item of a client's input as its provider takes it back; null: nobody can
 * (without encrypted content it would be looked up at a provider that stores nothing).
 */
export function openReasoning(item: Members, seals: Pick<Seals, 'open'>): OpenedReasoning | null {
  const { encrypted_content: sealed } = item;
  if (typeof sealed !== 'string' || sealed === '') {
    const carriesText = Array.isArray(item.content) && item.content.length > 0;
    return carriesText ? native('responses', withoutId(item)) : null;
  }
  if (!isSealed(sealed)) return native('responses', item);
  const opened = seals.open(sealed);
  if (opened === null) return null;
  const { format, value } = opened;
  if (format === 'chat') return { type: 'returned', ...returnedIn(value) };
  if (format === 'messages') return messagesBlock(item, value);
  return native(format, { summary: item.summary ?? [], ...value, type: 'reasoning' });
}

/** A signed block of thinking, whose text was shown as the summary, or a redacted one. */
function messagesBlock(item: Members, value: Members): ContentPart {
  if (value.type === 'redacted_thinking') return native('messages', value);
  return native('messages', { type: 'thinking', thinking: summaryText(item.summary), ...value });
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

// Audio deltas without JSON.parse: one walk over a flat object of plain members around the audio,
// and where the last one's template fits, not even that. What is not sure is read the long way.

export interface AudioDelta {
  itemId: string;
  responseId: string;
  /** Empty: it has none. */
  eventId: string;
  /** As sent: the caller must check that it is base64. */
  delta: string;
}

/** The members before the audio fill about 200 bytes, those after it hardly any. */
const headBytesMax = 512;
const tailBytesMax = 256;
const quote = 0x22;
const space = 0x20;
const comma = 0x2c;
const deltaStart = /"delta": ?"/;
const eventIdStart = /"event_id": ?"/;
const audioTypes: readonly string[] = ['response.output_audio.delta', 'response.audio.delta'];
/** No escapes, no control characters, and ASCII alone. */
const plain = /^[\w.\-:/+=]*$/;
const wholeNumber = /(?:0|[1-9]\d{0,8})(?=[,}])/y;

/** What messages of one item have in common: all but the event's id and the audio. */
interface Template {
  /** Up to the event's id. */
  prefix: string;
  /** From there to the audio. */
  middle: string;
  /** After it. */
  suffix: string;
  itemId: string;
  responseId: string;
}

export class AudioDeltas {
  #template: Template | null = null;

  /** Null: another message, or one that must be parsed. */
  read(message: Buffer): AudioDelta | null {
    // Latin-1 is one character a byte; only ASCII passes below.
    const head = message.toString('latin1', 0, Math.min(message.length, headBytesMax));
    return this.#fit(head, message) ?? this.#walk(head, message);
  }

  #fit(head: string, message: Buffer): AudioDelta | null {
    const template = this.#template;
    if (template === null) return null;
    const { prefix, middle, suffix, itemId, responseId } = template;
    const end = message.length - suffix.length;
    if (!head.startsWith(prefix) || message.toString('latin1', end) !== suffix) return null;
    const idEnd = head.indexOf('"', prefix.length);
    if (idEnd < 0 || !head.startsWith(middle, idEnd)) return null;
    const eventId = head.slice(prefix.length, idEnd);
    const start = idEnd + middle.length;
    if (start > end || !plain.test(eventId)) return null;
    return { itemId, responseId, eventId, delta: message.toString('latin1', start, end) };
  }

  #walk(head: string, message: Buffer): AudioDelta | null {
    const found = deltaStart.exec(head);
    if (found === null) return null;
    const start = found.index + found[0].length;
    const end = message.indexOf(quote, start);
    if (end < 0 || message.length - end > tailBytesMax) return null;
    const before = head.slice(0, start);
    const suffix = message.toString('latin1', end);
    // JSON takes the last one where a member stands twice.
    if (suffix.includes('"delta"')) return null;
    const ids = readIds(before + suffix);
    if (ids === null) return null;
    const eventId = this.#learn(before, suffix, ids);
    return { ...ids, eventId, delta: message.toString('latin1', start, end) };
  }

  /** Returns the event's id. */
  #learn(before: string, suffix: string, ids: { itemId: string; responseId: string }): string {
    const found = eventIdStart.exec(before);
    const idStart = found === null ? 0 : found.index + found[0].length;
    const idEnd = before.indexOf('"', idStart);
    // Without an id, or with two, every message is walked through.
    const isFit = found !== null && !eventIdStart.test(before.slice(idEnd));
    const [prefix, middle] = [before.slice(0, idStart), before.slice(idEnd)];
    this.#template = isFit ? { prefix, middle, suffix, ...ids } : null;
    return found === null ? '' : before.slice(idStart, idEnd);
  }
}

/** Of the message without its audio. */
function readIds(text: string): { itemId: string; responseId: string } | null {
  if (text.charCodeAt(0) !== 0x7b || !text.endsWith('}')) return null;
  const found: Record<string, string> = {};
  let position = 1;
  while (position < text.length) {
    const keyEnd = text.indexOf('":', position);
    if (text.charCodeAt(position) !== quote || keyEnd < 0) return null;
    const key = text.slice(position + 1, keyEnd);
    position = keyEnd + 2;
    if (text.charCodeAt(position) === space) position += 1;
    const end = valueEnd(text, position);
    if (end < 0 || !plain.test(key)) return null;
    if (text.charCodeAt(position) === quote) {
      const value = text.slice(position + 1, end - 1);
      if (!plain.test(value)) return null;
      if (key in wanted) found[key] = value;
    } else if (key in wanted) return null;
    position = end;
    if (position === text.length - 1) return idsOf(found);
    if (text.charCodeAt(position) !== comma) return null;
    position += text.charCodeAt(position + 1) === space ? 2 : 1;
  }
  return null;
}

/** Members that are no strings here make another message of it. */
const wanted = { type: 0, item_id: 0, response_id: 0, delta: 0 };

/** Where the string or whole number that begins here ends; -1: it is neither. */
function valueEnd(text: string, position: number): number {
  if (text.charCodeAt(position) === quote) return text.indexOf('"', position + 1) + 1 || -1;
  wholeNumber.lastIndex = position;
  return wholeNumber.test(text) ? wholeNumber.lastIndex : -1;
}

function idsOf(found: Record<string, string>): { itemId: string; responseId: string } | null {
  const { type, item_id: itemId, response_id: responseId } = found;
  if (type === undefined || !audioTypes.includes(type)) return null;
  return itemId === undefined || responseId === undefined ? null : { itemId, responseId };
}

// Reads one response body: server-sent events, or plain JSON (one event, or a list of them) from a
// server that ignored `alt=sse`. An error in the middle may come as JSON without the `data:`.
import type { ModelEvent } from '../../../model/events.ts';
import { runEvent } from '../../../model/text-run.ts';
import { isMembers, type Members } from '../../../transport/members.ts';
import { BodyReader, parseJson } from '../body-reader.ts';
import { errorOf } from './failure.ts';
import { learnShortcut, matchedUsage, matchShortcut, type Shortcut } from './shortcut.ts';
import {
  emptyGeminiStream,
  endOfAnswer,
  type GeminiStreamState,
  isWhole,
  noteText,
  readCounts,
  readEvent,
  readText,
  soleText,
} from './stream.ts';

/** Learning pauses for this many events at most when shortcuts never match twice. */
const pauseMax = 64;
const strayCharactersMax = 64 * 1024;
const openers = ['{', '['];

export class GeminiReader extends BodyReader {
  readonly #state: GeminiStreamState;
  /** Lines that are no field of an event. */
  #stray = '';
  #shortcut: Shortcut | null = null;
  #isShortcutUsed = false;
  /** Of its events in this read: they are told together, and of their counts the last. */
  #texts: string[] = [];
  /** Events until it is learned again. The first one is only looked at: the answer may be short. */
  #wait = 1;
  #pause = 0;

  constructor(state: GeminiStreamState = emptyGeminiStream()) {
    super({ lists: true });
    this.#state = state;
  }

  /** For the decoder: one event's data. */
  event(data: string): string | null {
    if (this.#shortcut !== null && this.#takeShortcut(this.#shortcut, data)) return null;
    this.flushRest();
    if (data.trim() === '' || data.trim() === '[DONE]') return null;
    const event = parseJson(data);
    if (event === undefined || typeof event !== 'object') {
      this.fail('garbage', `not an event: ${data.slice(0, 200)}`);
      return null;
    }
    const before = this.#state.usageMetadata;
    this.#read(event);
    if (isMembers(event)) this.#learn(data, event, isMembers(before) ? before : {});
    return soleText(event);
  }

  probe(data: string): string | null {
    return soleText(parseJson(data));
  }

  text(text: string): void {
    this.flushRest();
    this.add(readText(this.#state, text, true));
  }

  /** What a text is may change with each of them. */
  texts(pieces: readonly string[]): void {
    for (const piece of pieces) this.text(piece);
  }

  stray(line: string): void {
    if (this.#stray === '' && !openers.includes(line.trimStart().charAt(0))) return;
    if (this.#stray.length + line.length < strayCharactersMax) this.#stray += `${line}\n`;
  }

  protected readDocument(body: object): void {
    for (const event of Array.isArray(body) ? body : [body]) {
      if (!this.over) this.#read(event);
    }
    if (this.over) return;
    if (this.#state.started) this.#endAnswer();
    else this.fail('garbage', 'the JSON is no answer');
  }

  protected endEarly(): void {
    this.endEvents();
    if (!this.over) this.#endAnswer();
  }

  /** Each count says what all before it say, and of one read nobody hears them one by one. */
  protected override flushRest(): void {
    const texts = this.#texts;
    if (texts.length === 0 || this.#shortcut === null) return;
    this.#texts = [];
    for (const text of texts) noteText(this.#state, text);
    const [first = ''] = texts;
    this.add(texts.length > 1 ? runEvent(texts, null) : { type: 'text', text: first, plain: true });
    const counts: ModelEvent[] = [];
    readCounts(this.#state, matchedUsage(this.#shortcut), counts);
    this.addAll(counts);
  }

  #takeShortcut(shortcut: Shortcut, data: string): boolean {
    const text = matchShortcut(shortcut, data);
    if (text === null) return false;
    this.#isShortcutUsed = true;
    this.#texts.push(text);
    return true;
  }

  /** Learns anew after every event that did not match, but ever more seldom when that is no use. */
  #learn(data: string, event: Members, before: Members): void {
    if (this.#shortcut !== null) {
      this.#pause = this.#isShortcutUsed ? 0 : Math.min(pauseMax, Math.max(1, this.#pause * 2));
      this.#wait = this.#pause;
      this.#shortcut = null;
    }
    const text = soleText(event, true);
    if (text === null || !isMembers(event.usageMetadata)) return;
    if (this.#wait > 0) {
      this.#wait -= 1;
      return;
    }
    this.#shortcut = learnShortcut(data, event, text, before);
    this.#isShortcutUsed = false;
  }

  #endAnswer(): void {
    const error = this.#stray === '' ? null : errorOf(parseJson(this.#stray));
    if (error !== null) {
      this.#read({ error });
    } else if (!isWhole(this.#state)) {
      this.fail('cut', 'the body ended before the answer did');
    } else {
      this.addAll(endOfAnswer(this.#state));
      if (this.#state.failed) this.failWith(null);
      else this.finish();
    }
  }

  #read(event: unknown): void {
    this.addAll(readEvent(this.#state, isMembers(event) ? event : firstOf(event)));
    if (this.#state.failed) this.failWith(null);
  }
}

/** An envelope may stand in a list of one. */
function firstOf(event: unknown): unknown {
  return Array.isArray(event) ? event[0] : event;
}

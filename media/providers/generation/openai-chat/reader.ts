// Reads the body of a chat completion: chunks up to [DONE], or the whole completion.
import { runEvent } from '../../../model/text-run.ts';
import { isMembers } from '../../../transport/members.ts';
import { BodyReader, parseJson } from '../body-reader.ts';
import type { ClientFormat } from '../contract.ts';
import { streamFailure } from './failure.ts';
import {
  type ChatStreamState,
  emptyChatStream,
  endOfAnswer,
  isWhole,
  readChunk,
  soleText,
} from './stream.ts';

const errorField = 'error:';

export class ChatReader extends BodyReader {
  readonly #state: ChatStreamState;

  constructor(clientFormat?: ClientFormat, server?: string) {
    super();
    this.#state = emptyChatStream(clientFormat, server);
  }

  /** For the decoder: one event's data. */
  event(data: string, type: string): string | null {
    if (data.trim() === '[DONE]') {
      if (this.#state.started) this.#finish();
      else this.fail('garbage', 'terminator without an answer');
      return null;
    }
    if (data.trim() === '') return null;
    const chunk = parseJson(data);
    if (chunk === undefined || typeof chunk !== 'object') {
      this.fail('garbage', `not a chunk: ${data.slice(0, 200)}`);
      return null;
    }
    if (type === 'error' && isMembers(chunk) && chunk.choices === undefined) {
      this.failWith({ type: 'failure', failure: streamFailure(chunk.error ?? chunk) });
      return null;
    }
    this.#read(chunk);
    return soleText(chunk);
  }

  probe(data: string, type: string): string | null {
    return type === 'error' ? null : soleText(parseJson(data));
  }

  text(text: string): void {
    this.#state.worded = true;
    this.#state.answered = true;
    this.add({ type: 'text', text, plain: true });
  }

  texts(pieces: readonly string[]): void {
    this.#state.worded = true;
    this.#state.answered = true;
    this.add(runEvent(pieces, null));
  }

  /** Older builds of llama.cpp write an error as a field of its own name. */
  stray(line: string): void {
    if (this.over || !line.startsWith(errorField)) return;
    const error = parseJson(line.slice(errorField.length));
    if (isMembers(error)) this.failWith({ type: 'failure', failure: streamFailure(error) });
  }

  protected readDocument(completion: object): void {
    this.#read(completion);
    if (this.over) return;
    if (this.#state.started) this.#finish();
    else this.fail('garbage', 'the JSON body is not a completion');
  }

  protected endEarly(): void {
    // The body ended properly after the finish reason: only [DONE] was left out.
    if (isWhole(this.#state)) this.#finish();
    else this.fail('cut', 'the body ended before the answer did');
  }

  #read(chunk: object | null): void {
    this.addAll(readChunk(this.#state, chunk));
    if (this.#state.failed) this.failWith(null);
  }

  #finish(): void {
    this.addAll(endOfAnswer(this.#state));
    if (this.#state.failed) this.failWith(null);
    else this.finish();
  }
}

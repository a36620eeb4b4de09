// Reads the body of a response: typed events up to the one that ends it, or the whole response.
import { runEvent } from '../../../model/text-run.ts';
import { isMembers } from '../../../transport/members.ts';
import { BodyReader, parseJson } from '../body-reader.ts';
import type { ClientFormat } from '../contract.ts';
import {
  emptyResponsesStream,
  noteText,
  plainText,
  type ResponsesStreamState,
  readEvent,
  readResponse,
  soleText,
} from './stream.ts';

/**
 * How events begin that say nothing of the answer, but repeat the whole request: instructions and
 * tools of an agent are long to parse.
 */
const repeatingTypes = ['response.created', 'response.in_progress', 'response.queued'];
const repeatingHeads = repeatingTypes.map((type) => `{"type":"${type}",`);
const beginning = { type: 'response.created' };

export class ResponsesReader extends BodyReader {
  readonly #state: ResponsesStreamState;

  constructor(clientFormat?: ClientFormat) {
    // Every event is numbered: the number is no part of a text event's template.
    super({ counter: '"sequence_number":' });
    this.#state = emptyResponsesStream(clientFormat);
  }

  /** For the decoder: one event's data. */
  event(data: string, type: string): string | null {
    const trimmed = data.trim();
    if (trimmed === '' || trimmed === '[DONE]') return null;
    if (type !== '' && repeatingHeads.some((head) => data.startsWith(head))) {
      this.addAll(readEvent(this.#state, beginning, type));
      return null;
    }
    const event = parseJson(data);
    if (!isMembers(event)) {
      this.fail('garbage', `not an event: ${data.slice(0, 200)}`);
      return null;
    }
    this.addAll(readEvent(this.#state, event, type));
    this.#endIfOver();
    return soleText(event, type);
  }

  probe(data: string, type: string): string | null {
    return soleText(parseJson(data), type);
  }

  text(text: string): void {
    noteText(this.#state, text);
    this.add(plainText(text));
  }

  texts(pieces: readonly string[]): void {
    const event = runEvent(pieces, null);
    noteText(this.#state, event.text);
    this.add(event);
  }

  protected readDocument(response: object): void {
    if (isMembers(response)) this.addAll(readResponse(this.#state, response));
    this.#endIfOver();
    if (!this.over) this.fail('garbage', 'the JSON body is not a response');
  }

  protected endEarly(): void {
    this.fail('cut', 'the body ended before the answer did');
  }

  #endIfOver(): void {
    if (this.#state.failed) this.failWith(null);
    else if (this.#state.finished) this.finish();
  }
}

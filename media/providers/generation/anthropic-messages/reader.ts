// Reads the body of a message: typed events up to message_stop, or the whole message.
import type { FramedTexts } from '../../../model/events.ts';
import { runEvent } from '../../../model/text-run.ts';
import { isMembers } from '../../../transport/members.ts';
import { BodyReader, parseJson } from '../body-reader.ts';
import type { ClientFormat } from '../contract.ts';
import {
  emptyMessagesStream,
  endOfAnswer,
  isTextBlock,
  type MessagesStreamState,
  readEvent,
  readMessage,
  soleText,
} from './stream.ts';

/** Events whose data must be JSON; whatever else comes may be anything. */
const knownTypes = /^(?:|message|error|message_(?:start|delta|stop)|content_block_[a-z]+)$/;
const keepBlocks: ReadonlySet<unknown> = new Set(['content_block_delta', 'ping']);

export class MessagesReader extends BodyReader {
  readonly #state: MessagesStreamState;

  constructor(clientFormat?: ClientFormat) {
    super();
    this.#state = emptyMessagesStream(clientFormat);
  }

  /** For the decoder: one event's data. */
  event(data: string, type: string): string | null {
    const event = parseJson(data);
    if (!isMembers(event)) {
      if (knownTypes.test(type) && data.trim() !== '' && data.trim() !== '[DONE]') {
        this.fail('garbage', `not an event: ${data.slice(0, 200)}`);
      }
      return null;
    }
    // Some servers name the event, some its data, most both.
    event.type ??= type;
    if (event.type === 'message_stop') {
      if (this.#state.started) this.#finish();
      else this.fail('garbage', 'the end of a message without its beginning');
      return null;
    }
    // Blocks may have ended or begun anew.
    if (!keepBlocks.has(event.type)) this.forgetTemplate();
    const text = isTextBlock(this.#state, event) ? soleText(event) : null;
    this.addAll(readEvent(this.#state, event));
    if (this.#state.failed) this.failWith(null);
    return text;
  }

  probe(data: string): string | null {
    return soleText(parseJson(data));
  }

  text(text: string): void {
    this.#state.blocks.textLength += text.length;
    this.add({ type: 'text', text, plain: true });
  }

  texts(pieces: readonly string[], framed: FramedTexts | null): void {
    const { blocks } = this.#state;
    const event = runEvent(pieces, blocks.own ? framed : null);
    blocks.textLength += event.text.length;
    this.add(event);
  }

  protected readDocument(message: object): void {
    if (isMembers(message)) this.addAll(readMessage(this.#state, message));
    if (this.#state.failed) this.failWith(null);
    else if (this.#state.started) this.#finish();
    else this.fail('garbage', 'the JSON body is not a message');
  }

  protected endEarly(): void {
    // The body ended properly after the stop reason: only message_stop was left out.
    if (this.#state.finished) this.#finish();
    else this.fail('cut', 'the body ended before the answer did');
  }

  #finish(): void {
    this.addAll(endOfAnswer(this.#state));
    this.finish();
  }
}

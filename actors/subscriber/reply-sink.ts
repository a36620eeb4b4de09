// The sink between a subscriber actor and the route that answers its client. Bytes written before
// the headers have left wait here; the route connects the stream in the turn in which they leave.
import { emptyAnswer } from '../../media/model/answer.ts';
import type { StreamEncoder } from '../../media/model/dialects/contract.ts';
import type { EventStream } from '../../runtime/http/route.ts';
import { plainProblem } from '../../runtime/problem.ts';
import type { GenerationEnd } from './protocol.ts';

/**
 * How the reply begins: as a stream, with an end that came before anything else, or, for who asked
 * for no more, with the news that a background generation has been accepted.
 */
export type Opening =
  | { kind: 'stream' }
  | { kind: 'end'; end: GenerationEnd }
  | { kind: 'accepted' };

/** One client's side. Without an encoder the client wants the whole answer as JSON. */
export class ReplySink {
  readonly opening: Promise<Opening>;
  readonly encoder: StreamEncoder | null;
  readonly wants: 'answer' | 'acceptance';
  /** Members of the request that the provider is not told. */
  dropped: readonly string[] = [];
  #open: (opening: Opening) => void = () => {};
  #opened = false;
  #stream: EventStream | null = null;
  #pending = '';
  #finished = false;

  constructor(encoder: StreamEncoder | null, wants: 'answer' | 'acceptance' = 'answer') {
    this.encoder = encoder;
    this.wants = wants;
    this.opening = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  get opened(): boolean {
    return this.#opened;
  }

  /** Decides how the reply begins; only the first call counts. */
  open(opening: Opening): void {
    if (this.#opened) return;
    this.#opened = true;
    this.#open(opening);
  }

  write(text: string): void {
    if (text === '') return;
    if (this.#stream === null) this.#pending += text;
    else this.#stream.write(text);
  }

  /** Writes the last bytes; the reply is over when they have left. */
  finish(text: string): void {
    this.#finished = true;
    if (this.#stream === null) this.#pending += text;
    else this.#stream.end(text);
  }

  /** Called by the route with the open stream; `gone` runs when the client leaves too soon. */
  connect(stream: EventStream, gone: () => void): void {
    this.#stream = stream;
    if (this.#finished) stream.end(this.#pending);
    else {
      stream.onClose((reason) => {
        if (reason !== 'ended') gone();
      });
      if (this.#pending !== '') stream.write(this.#pending);
    }
    this.#pending = '';
  }
}

/** The end that a client is told when its generation is lost to a bug or a dead shard. */
export function lostEnd(): GenerationEnd {
  const problem = plainProblem('internal');
  return { status: 'failed', problem, answer: emptyAnswer(), svcUsage: null, svcRouting: null };
}

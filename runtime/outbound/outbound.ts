// The outbound guard: every URL that somebody else names is judged, connected to and read here, and
// so is each redirect. Contract and README beside it say what it promises.
import { AwakeTimer } from '../awake.ts';
import type { Logger } from '../log.ts';
import { boundsOf } from './bounds.ts';
import type {
  Outbound,
  OutboundAnswer,
  OutboundBytes,
  OutboundCall,
  OutboundRefusal,
  OutboundUse,
} from './contract.ts';
import { readException } from './exceptions.ts';
import { Exchange, faultOfHead, type Head } from './exchange.ts';
import { OutboundFault } from './fault.ts';
import { assertHeaders, headersFor } from './headers.ts';
import { type Judge, judge } from './judge.ts';
import { createResolve, type Resolve } from './names.ts';
import type { OwnPlace } from './own.ts';
import { locationOf, nextStep, type Step } from './redirect.ts';
import { readTarget, refused } from './target.ts';
import { outboundUses } from './uses.ts';

export interface OutboundOptions {
  /** As `TOLLGATE_FETCH_PRIVATE` has them. */
  exceptions: readonly string[];
  /** Places of this service, which no exception opens. */
  own: readonly OwnPlace[];
  log: Logger;
  resolve?: Resolve;
  /** Certificates that are trusted in place of Node's own. */
  ca?: string;
}

/** One fetch from its start to the end of its body. */
interface Life {
  /** Aborts with an OutboundFault as its reason. */
  readonly signal: AbortSignal;
  end(): void;
}

export function createOutbound(options: OutboundOptions): Outbound {
  const { exceptions, own, log, resolve = createResolve(), ca = null } = options;
  for (const use of Object.values(outboundUses)) boundsOf(use);
  const self: Judge = { exceptions: exceptions.map(parsed), own, resolve };
  const closing = new AbortController();

  const tell = (fault: OutboundFault, url: string, use: OutboundUse): OutboundRefusal => {
    const { reason, detail } = fault;
    const line = { use: use.name, host: hostIn(url), reason, detail };
    if (reason === 'source_refused') log.warn(line, 'a URL was refused');
    else log.debug(line, 'a URL was not fetched');
    return fault.refusal;
  };

  return {
    async fetch(url, use, call) {
      const bounds = boundsOf(use);
      assertHeaders(call);
      const life = beginLife(use.totalMs, [call.signal, closing.signal]);
      try {
        const broken = (fault: OutboundFault) => void tell(fault, url, use);
        return await follow({ self, ca, use, call, life, bounds, broken }, url);
      } catch (error) {
        life.end();
        if (!(error instanceof OutboundFault)) throw error;
        return tell(error, url, use);
      }
    },

    async check(url, use, { signal, provider }) {
      const { namesMs } = boundsOf(use).deadlines;
      const life = beginLife(use.totalMs, [signal, closing.signal]);
      try {
        const target = readTarget(url);
        await judge(self, target, { use, provider, namesMs, signal: life.signal });
        return { ok: true, url: target.url.href };
      } catch (error) {
        if (!(error instanceof OutboundFault)) throw error;
        return tell(error, url, use);
      } finally {
        life.end();
      }
    },

    close: () => closing.abort(),
  };
}

interface Fetching {
  self: Judge;
  ca: string | null;
  use: OutboundUse;
  call: OutboundCall;
  life: Life;
  bounds: ReturnType<typeof boundsOf>;
  /** Is told of a body that breaks off. */
  broken(fault: OutboundFault): void;
}

/** Asks a URL and whatever it leads to. */
async function follow(fetching: Fetching, url: string): Promise<OutboundAnswer> {
  const { use, bounds, call } = fetching;
  const { method = 'GET', body = null } = call;
  let step: Step = { target: readTarget(url), method, body, isAtHome: true };
  const seen = new Set<string>();
  for (let redirects = 0; ; redirects += 1) {
    const key = `${step.method} ${step.target.url.href}`;
    if (seen.has(key)) throw refused('a redirect leads in a circle');
    seen.add(key);
    const { exchange, head } = await ask(fetching, step);
    const location = locationOf(head);
    if (location === null) return answerOf(fetching, step, exchange, head);
    exchange.close();
    if (redirects >= bounds.redirectsMax) throw refused('too many redirects');
    step = nextStep(step, head.status, location, use);
  }
}

async function ask({ self, ca, use, call, life, bounds }: Fetching, step: Step) {
  const { target, method, body } = step;
  const { signal } = life;
  const { namesMs } = bounds.deadlines;
  const addresses = await judge(self, target, { use, provider: call.provider, namesMs, signal });
  if (signal.aborted) throw signal.reason;
  const headers = headersFor(step, call);
  const { deadlines } = bounds;
  const { bytesMax } = use;
  const request = { target, addresses, method, headers, body, deadlines, bytesMax, ca };
  const exchange = new Exchange(request);
  signal.addEventListener('abort', () => exchange.fail(signal.reason as OutboundFault), {
    once: true,
  });
  return { exchange, head: await exchange.send() };
}

function answerOf(
  { use, life, broken }: Fetching,
  { target, method }: Step,
  exchange: Exchange,
  head: Head,
): OutboundAnswer {
  const fault = faultOfHead(head, { method, bytesMax: use.bytesMax });
  const close = () => {
    exchange.close();
    life.end();
  };
  if (fault !== null) {
    close();
    throw fault;
  }
  const { status, headers, length } = head;
  const body = piecesOf(exchange, close, broken);
  const type = headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  return {
    ok: true,
    status,
    headers,
    type: type === '' ? null : type,
    length,
    url: target.url.href,
    body,
    bytes: () => bytesOf(body),
    close,
  };
}

async function* piecesOf(
  exchange: Exchange,
  close: () => void,
  broken: Fetching['broken'],
): AsyncGenerator<Buffer, void> {
  try {
    for (let piece = await exchange.read(); piece !== null; piece = await exchange.read()) {
      yield piece;
    }
  } catch (error) {
    if (error instanceof OutboundFault) broken(error);
    throw error;
  } finally {
    close();
  }
}

async function bytesOf(body: AsyncIterable<Buffer>): Promise<OutboundBytes> {
  const pieces: Buffer[] = [];
  try {
    for await (const piece of body) pieces.push(piece);
  } catch (error) {
    if (error instanceof OutboundFault) return error.refusal;
    throw error;
  }
  return { ok: true, bytes: Buffer.concat(pieces) };
}

function beginLife(totalMs: number, outer: readonly AbortSignal[]): Life {
  const ending = new AbortController();
  const stop = () => ending.abort(new OutboundFault('aborted', 'given up'));
  const timer = new AwakeTimer(totalMs, () =>
    ending.abort(new OutboundFault('timeout', 'the whole of it took too long')),
  );
  for (const each of outer) {
    if (each.aborted) stop();
    else each.addEventListener('abort', stop, { once: true });
  }
  const end = () => {
    timer.cancel();
    for (const each of outer) each.removeEventListener('abort', stop);
  };
  return { signal: ending.signal, end };
}

function parsed(text: string) {
  const exception = readException(text);
  if (exception === null) throw new Error('the configuration let a bad exception through');
  return exception;
}

/** The host alone, and no more of it than a name has. */
function hostIn(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname.slice(0, 253) : '';
}

// Sends what a row of the table asks for, streamed and whole, through one pair of a client's format
// and an upstream family, and holds every answer to its usage, its price and the wallet.
import assert from 'node:assert/strict';
import { createParser } from 'eventsource-parser';
import type { SvcUsage } from '../../../media/model/dialects/contract.ts';
import type { TestAccount } from '../../harness/account.ts';
import {
  type Ask,
  type ClientFormat,
  emptyOutcome,
  type Members,
  type Outcome,
  type SseEvent,
} from './ask.ts';

export interface UpstreamFamily {
  name: 'chat' | 'responses' | 'messages' | 'gemini';
  /** Alias of a simulated model that this family alone serves. */
  model: string;
  /** Says a refusal in words; the others just end. */
  refusesInWords: boolean;
}

export interface Pair {
  format: ClientFormat;
  family: UpstreamFamily;
}

export interface ExpectedUsage {
  /** Null: whatever it is. */
  input: number | null;
  output: number;
  cached?: number;
  cacheWrite?: number;
  reasoning?: number;
  searches?: number;
  source?: SvcUsage['source'];
}

/** Of every simulated model, in dollars (decisions.md, section 9). */
export const simulatedPrices = {
  input_per_million: '2.50',
  cached_input_per_million: '0.25',
  output_per_million: '10.00',
};
/** The same in hundredths of microcredits per token, with the 5 %. */
const rates = { input: 26_250n, cached: 2_625n, output: 105_000n };

export function priceOf(usage: SvcUsage): number {
  const input = BigInt(usage.input_tokens + usage.cache_write_tokens) * rates.input;
  const cached = BigInt(usage.cached_input_tokens) * rates.cached;
  const output = BigInt(usage.output_tokens + usage.reasoning_tokens) * rates.output;
  return Number((input + cached + output + 99n) / 100n);
}

/** What the simulator counts as input tokens: the words of all texts. */
export function wordsOf(ask: Ask): number {
  const texts = [ask.system ?? '', ...ask.turns.map(({ text }) => text)];
  return texts
    .join(' ')
    .split(/\s+/)
    .filter((word) => word !== '').length;
}

export class Play {
  readonly pair: Pair;
  readonly #account: TestAccount;
  #chargedMicros = 0n;

  constructor(pair: Pair, account: TestAccount) {
    this.pair = pair;
    this.#account = account;
  }

  /** Whether the upstream's own format is the client's. */
  get isSameFormat(): boolean {
    return this.pair.format.name === this.pair.family.name;
  }

  /** An answer that is the same streamed and whole, with this usage; without ids. */
  async answer(ask: Ask, usage: ExpectedUsage): Promise<Outcome> {
    const [whole, streamed] = await Promise.all([this.send(ask, false), this.send(ask, true)]);
    for (const outcome of [whole, streamed]) {
      assert.equal(outcome.error, null, 'no error');
      assert.equal(outcome.status, 200);
      assertUsage(outcome, usage);
    }
    assert.deepEqual(shown(streamed), shown(whole), 'streamed as whole');
    return whole;
  }

  /** An error, as a status before the first event or inside of the stream, and nothing charged. */
  async refusal(ask: Ask, status: number, errors: Record<string, string>): Promise<void> {
    for (const stream of [false, true]) {
      const outcome = await this.send(ask, stream);
      assert.equal(outcome.status, status, `status with stream ${stream}`);
      assert.equal(outcome.error, errors[this.pair.format.name] ?? errors.chat);
      assert.equal(outcome.svcUsage?.charge_microcredits ?? 0, 0);
    }
  }

  async send(ask: Ask, stream: boolean): Promise<Outcome> {
    const { format, family } = this.pair;
    const response = await fetch(this.#account.baseUrl + format.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...format.headers(this.#account.apiKey) },
      body: JSON.stringify(format.body(ask, family.model, stream)),
    });
    const outcome = emptyOutcome(response);
    const text = await response.text();
    if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) {
      format.readStream(outcome, eventsOf(text));
    } else format.readWhole(outcome, JSON.parse(text) as Members);
    await this.#settle(outcome);
    return outcome;
  }

  /** The wallet has paid what the receipts say, and holds nothing. */
  async close(startMicros: bigint): Promise<void> {
    const { availableMicros } = await this.#account.quiet();
    assert.equal(startMicros - availableMicros, this.#chargedMicros, 'charged as told');
  }

  /** An error's reply has no receipt: the generation has. */
  async #settle(outcome: Outcome): Promise<void> {
    if (outcome.svcUsage === null && outcome.requestId !== '') {
      const path = `/v1/generations/${outcome.requestId}`;
      const response = await fetch(this.#account.baseUrl + path, {
        headers: { authorization: `Bearer ${this.#account.apiKey}` },
      });
      outcome.svcUsage = ((await response.json()) as { svc_usage: SvcUsage | null }).svc_usage;
    }
    const { svcUsage } = outcome;
    if (svcUsage === null) return;
    assert.equal(svcUsage.charge_microcredits, priceOf(svcUsage), 'the price of the usage');
    assert.equal(svcUsage.credits_exhausted, false);
    this.#chargedMicros += BigInt(svcUsage.charge_microcredits);
  }
}

function assertUsage({ svcUsage }: Outcome, usage: ExpectedUsage): void {
  assert.ok(svcUsage !== null, 'a receipt');
  const source = usage.source ?? 'reported';
  assert.equal(svcUsage.source, source);
  assert.equal(svcUsage.simulated, true);
  if (source === 'estimated') {
    assert.ok(svcUsage.input_tokens > 0 && svcUsage.output_tokens > 0);
    return;
  }
  const { input_tokens: input, output_tokens: output } = svcUsage;
  assert.deepEqual(
    {
      input: usage.input === null ? null : input,
      output,
      cached: svcUsage.cached_input_tokens,
      cacheWrite: svcUsage.cache_write_tokens,
      reasoning: svcUsage.reasoning_tokens,
      searches: svcUsage.search_calls,
    },
    { cached: 0, cacheWrite: 0, reasoning: 0, searches: 0, ...usage },
  );
}

function shown(outcome: Outcome): unknown {
  const { text, refusal, reasoning, finish, native, sources } = outcome;
  const calls = outcome.calls.map(({ name, arguments: args }) => [name, JSON.parse(args)]);
  const carried = outcome.carried.length;
  return { text, refusal, reasoning, finish, native, sources, calls, carried };
}

function eventsOf(text: string): SseEvent[] {
  const events: SseEvent[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => events.push({ type: event ?? '', data }),
    onError: (error) => assert.fail(error.message),
  });
  parser.feed(text);
  return events;
}

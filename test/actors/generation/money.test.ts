// What an answer costs, whatever its provider does: streamed and whole, the wallet loses exactly
// what `svc_usage` says, nothing stays held, and the provider is called once.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { SvcUsage } from '../../../media/model/dialects/contract.ts';
import type { TestAccount } from '../../harness/account.ts';
import {
  askChat,
  type ChatMembers,
  type ErrorObject,
  streamChat,
  type WholeReply,
} from '../../harness/chat.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

let bed: Testbed;
before(async () => {
  bed = await openTestbed({ own: 'its failures make models ill' });
});
after(() => bed?.close());

/** Microcredits of one token: dollars a million × 100 credits × 5 %. */
const inputMicros = 262.5;
const outputMicros = 1_050;

interface Seen {
  /** Of the reply, or of the stream's error event. */
  error: ErrorObject | null;
  status: number;
  text: string | null;
  finishReason: string | null;
  svcUsage: SvcUsage | null;
  headers: Headers;
}

interface Case {
  name: string;
  prompt: string;
  members?: ChatMembers;
  /** What both forms must show. */
  check(seen: Seen): void;
  /** Status of the generation at the end, and whether a charge is recorded with it. */
  ends: 'completed' | 'incomplete' | 'failed';
  upstream?: { finished: number; aborted: number };
}

function numbered(count: number): string {
  return Array.from({ length: count }, (_, index) => ` t${index}`).join('');
}

function assertCharge(seen: Seen, micros: number, source: SvcUsage['source']): void {
  assert.equal(seen.svcUsage?.charge_microcredits, micros);
  assert.equal(seen.svcUsage?.source, source);
}

/** A failure after the first delta: the answer so far is charged by the tokenizer's count. */
function assertFailedWithCharge(seen: Seen): void {
  assert.equal(seen.error?.code, 'upstream_error');
  assert.equal(seen.error?.type, 'api_error');
  if (seen.svcUsage !== null) {
    assert.equal(seen.svcUsage.source, 'estimated');
    assert.ok(seen.svcUsage.charge_microcredits > 0);
  }
}

const cases: Case[] = [
  {
    name: 'a good answer costs what the provider reports',
    prompt: '[[sim tokens=5]]',
    ends: 'completed',
    check(seen) {
      assert.equal(seen.text, numbered(5));
      assert.equal(seen.finishReason, 'stop');
      assertCharge(seen, 2 * inputMicros + 5 * outputMicros, 'reported');
    },
  },
  {
    name: 'cached and reasoning tokens are counted once, in buckets of their own',
    prompt: 'one two three [[sim tokens=2 cached=3 reasoning=4]]',
    ends: 'completed',
    check(seen) {
      const usage = seen.svcUsage;
      assert.equal(usage?.input_tokens, 4);
      assert.equal(usage?.cached_input_tokens, 3);
      assert.equal(usage?.output_tokens, 2);
      assert.equal(usage?.reasoning_tokens, 4);
      assertCharge(seen, Math.ceil(4 * inputMicros + 3 * 26.25 + 6 * outputMicros), 'reported');
    },
  },
  {
    name: 'an answer cut by max_tokens ends as length',
    prompt: '[[sim tokens=50]]',
    members: { max_tokens: 7 },
    ends: 'incomplete',
    check(seen) {
      assert.equal(seen.finishReason, 'length');
      assert.equal(seen.text, numbered(7));
      assertCharge(seen, 2 * inputMicros + 7 * outputMicros, 'reported');
      assert.equal(seen.svcUsage?.credits_exhausted, false);
    },
  },
  {
    name: 'without a report the tokens delivered are counted',
    prompt: '[[sim tokens=6 fault=no_usage]]',
    ends: 'completed',
    check(seen) {
      assert.equal(seen.text, numbered(6));
      assert.equal(seen.svcUsage?.source, 'estimated');
      assert.ok((seen.svcUsage?.output_tokens ?? 0) > 0);
      assert.ok((seen.svcUsage?.charge_microcredits ?? 0) > 0);
    },
  },
  {
    name: 'a report of zero is a report',
    prompt: '[[sim tokens=6 fault=zero_usage]]',
    ends: 'completed',
    check(seen) {
      assert.equal(seen.text, numbered(6));
      assertCharge(seen, 0, 'reported');
    },
  },
  {
    name: 'nothing delivered and nothing reported is free',
    prompt: '[[sim tokens=0 fault=no_usage]]',
    ends: 'completed',
    check(seen) {
      assert.equal(seen.text, '');
      assertCharge(seen, 0, 'none');
    },
  },
  {
    name: 'an answer whose characters are split by the network is whole',
    prompt: '[[sim text=grüße_aus_東京_😀_ende fault=split_utf8]]',
    ends: 'completed',
    check(seen) {
      assert.equal(seen.text, 'grüße aus 東京 😀 ende');
      assert.equal(seen.svcUsage?.source, 'reported');
    },
  },
  ...[500, 529, 401, 403, 404].map(
    (status): Case => ({
      name: `a provider's ${status} is a 502 and free`,
      prompt: `[[sim status=${status}]]`,
      ends: 'failed',
      check(seen) {
        assert.equal(seen.status, 502);
        assert.equal(seen.error?.code, 'upstream_error');
        assert.equal(seen.svcUsage, null);
      },
    }),
  ),
  ...[400, 413, 422].map(
    (status): Case => ({
      name: `a provider's ${status} is our 400 with our text`,
      prompt: `[[sim status=${status}]]`,
      ends: 'failed',
      check(seen) {
        assert.equal(seen.status, 400);
        assert.equal(seen.error?.code, 'invalid_request');
        assert.doesNotMatch(seen.error?.message ?? '', /simulat/i);
      },
    }),
  ),
  {
    name: "a provider's 429 is a 503 with its Retry-After",
    prompt: '[[sim status=429 retry_after=7]]',
    ends: 'failed',
    check(seen) {
      assert.equal(seen.status, 503);
      assert.equal(seen.error?.code, 'upstream_busy');
      assert.equal(seen.headers.get('retry-after'), '7');
    },
  },
  {
    name: "a provider's 408 is a 504",
    prompt: '[[sim status=408]]',
    ends: 'failed',
    check(seen) {
      assert.equal(seen.status, 504);
      assert.equal(seen.error?.code, 'upstream_timeout');
      assert.ok(Number(seen.headers.get('retry-after')) >= 1);
    },
  },
  ...(['error', 'cut', 'garbage'] as const).flatMap((fault): Case[] => [
    {
      name: `${fault} before the first event is a 502 and free`,
      prompt: `[[sim fault=${fault} at=0 tokens=400 gap_ms=20]]`,
      ends: 'failed',
      check(seen) {
        assert.equal(seen.status, 502);
        assert.equal(seen.error?.code, 'upstream_error');
        assert.equal(seen.svcUsage, null);
      },
      ...(fault === 'garbage' ? { upstream: { finished: 0, aborted: 1 } } : {}),
    },
    {
      name: `${fault} before the first delta is free`,
      prompt: `[[sim fault=${fault} at=1 tokens=400 gap_ms=20]]`,
      ends: 'failed',
      check(seen) {
        assert.equal(seen.error?.code, 'upstream_error');
        assert.equal(seen.text ?? '', '');
        // The headers of a stream had left with its first event: the receipt is in the stream.
        assert.equal(seen.svcUsage?.charge_microcredits ?? 0, 0);
        assert.equal(seen.svcUsage?.source, seen.status === 200 ? 'none' : undefined);
      },
      ...(fault === 'garbage' ? { upstream: { finished: 0, aborted: 1 } } : {}),
    },
    {
      name: `${fault} after some deltas charges what was delivered`,
      prompt: `[[sim fault=${fault} at=4 tokens=400 gap_ms=20]]`,
      ends: 'failed',
      check: assertFailedWithCharge,
      ...(fault === 'garbage' ? { upstream: { finished: 0, aborted: 1 } } : {}),
    },
  ]),
  {
    name: 'a structured answer that breaks its schema fails, charged',
    prompt: '[[sim json=bad]]',
    members: {
      response_format: {
        type: 'json_schema',
        json_schema: {
          name: 'point',
          strict: true,
          schema: {
            type: 'object',
            properties: { x: { type: 'number' } },
            required: ['x'],
            additionalProperties: false,
          },
        },
      },
    },
    ends: 'failed',
    check(seen) {
      assert.equal(seen.error?.code, 'upstream_error');
    },
  },
];

for (const each of cases) {
  for (const form of ['stream', 'whole'] as const) {
    test(`${form}: ${each.name}`, async () => {
      const account = await bed.account();
      const before = await account.quiet();
      await bed.simulator.reset();
      const seen = await (form === 'stream' ? seeStream(account, each) : seeWhole(account, each));
      // Before anything else: what a client was told must be in the ledger already.
      const told = await account.balance();
      each.check(seen);
      const generation = await readGeneration(account, seen.headers.get('x-svc-request-id') ?? '');
      assert.equal(generation.status, each.ends);
      const charged = generation.svc_usage?.charge_microcredits ?? 0;
      if (seen.svcUsage !== null) {
        if (charged > 0) assert.deepEqual(generation.svc_usage, seen.svcUsage);
        assert.equal(before.availableMicros - told.availableMicros, BigInt(charged));
      }
      const end = await account.quiet();
      assert.equal(before.availableMicros - end.availableMicros, BigInt(charged));
      if (seen.error !== null && charged > 0 && form === 'whole') {
        assert.equal(seen.headers.get('x-should-retry'), 'false');
      }
      if (seen.error === null) assert.notEqual(seen.svcUsage, null);
      const upstream = each.upstream ?? { finished: 1, aborted: 0 };
      await bed.simulator.expect({ started: 1, open: 0, ...upstream });
      assertNoLeak(JSON.stringify(seen.error));
    });
  }
}

async function seeStream(account: TestAccount, { prompt, members }: Case): Promise<Seen> {
  const stream = await streamChat(account, prompt, members, { key: 'matrix' });
  const { status, headers, text, finishReason, svcUsage, error } = stream;
  if (status === 200) {
    assert.ok(stream.raw.endsWith('data: [DONE]\n\n'), 'a stream ends with [DONE]');
    assertNoLeak(stream.raw);
    for (const chunk of stream.chunks.slice(0, -1)) assert.equal(chunk.svc_usage, undefined);
    for (const chunk of stream.chunks) {
      if (chunk.error === undefined) assert.equal(chunk.model, 'svc-sim-chat');
    }
  }
  return { status, headers, text, finishReason, svcUsage, error };
}

async function seeWhole(account: TestAccount, { prompt, members }: Case): Promise<Seen> {
  const reply = await askChat(account, prompt, members, { key: 'matrix' });
  const { status, headers, body } = reply;
  const [choice] = body.choices ?? [];
  if (choice !== undefined) assertWhole(reply);
  return {
    status,
    headers,
    error: body.error ?? null,
    text: choice?.message.content ?? null,
    finishReason: choice?.finish_reason ?? null,
    svcUsage: body.svc_usage ?? null,
  };
}

function assertWhole({ body }: WholeReply): void {
  assert.equal(body.model, 'svc-sim-chat');
  const { usage, svc_usage: receipt } = body;
  const input = receipt.input_tokens + receipt.cached_input_tokens + receipt.cache_write_tokens;
  assert.equal(usage.prompt_tokens, input);
  assert.equal(usage.completion_tokens, receipt.output_tokens + receipt.reasoning_tokens);
  assertNoLeak(JSON.stringify(body));
}

/** Nothing of the provider: model id, fingerprint, padding, service tier, its own ids. */
function assertNoLeak(text: string): void {
  assert.doesNotMatch(text, /simulated-chat|fp_51m|obfuscation|service_tier|system_fingerprint/);
}

interface GenerationReply {
  status: string;
  svc_usage: SvcUsage | null;
}

async function readGeneration(account: TestAccount, id: string): Promise<GenerationReply> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const response = await fetch(`${account.baseUrl}/v1/generations/${id || 'matrix'}`, {
      headers: { authorization: `Bearer ${account.apiKey}` },
    });
    const body = (await response.json()) as GenerationReply;
    if (response.status === 200 && body.status !== 'running') return body;
    assert.ok(performance.now() < deadline, `generation: ${response.status} ${body.status}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

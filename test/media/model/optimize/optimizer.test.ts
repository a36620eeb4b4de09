// The promises of the context optimizer, as properties of conversations by chance.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conversationOf, FAMILIES, isReadable } from '../../../../bench/optimizer/sessions.ts';
import { sealedSegments } from '../../../../media/model/optimize/boundary.ts';
import { optimizeMessages } from '../../../../media/model/optimize/optimizer.ts';
import { type OptimizerOptions, sealBytesOf } from '../../../../media/model/optimize/settings.ts';
import type { Message } from '../../../../media/model/request.ts';
import { fc } from '../../../harness/properties.ts';
import { sampledRuns } from '../../../harness/sample.ts';
import { testSeed } from '../../../harness/seed.ts';
import { assertLinear } from '../../../harness/stopwatch.ts';
import {
  fencedBlocks,
  frozen,
  options,
  textsOf,
  toolConversation,
  turns,
} from './conversations.ts';

const seed = testSeed;
const run = { seed, numRuns: sampledRuns(150, 50) };

function boundaryOf(messages: readonly Message[], { mode }: OptimizerOptions): number {
  return sealedSegments(messages, sealBytesOf(mode)).at(-1)?.to ?? 0;
}

/** Behind the last message that has changed: what is still as it came may be rewritten later. */
function rewrittenTo(before: readonly Message[], after: readonly Message[]): number {
  return after.findLastIndex((message, index) => message !== before[index]) + 1;
}

function lastTurnOf(messages: readonly Message[]): number {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  let start = last;
  for (let index = last; index >= 0; index -= 1) {
    const role = messages[index]?.role;
    if (role === 'user') start = index;
    else if (role !== 'system' && role !== 'developer') break;
  }
  return start;
}

test(`keeps all but texts of sealed user and tool messages as they are (seed ${seed})`, () => {
  fc.assert(
    fc.property(turns, options, (conversation, chosen) => {
      const messages = frozen(conversation.flat());
      const { messages: result } = optimizeMessages(messages, chosen);
      const boundary = boundaryOf(messages, chosen);
      assert.ok(boundary <= lastTurnOf(messages));
      assert.equal(result.length, messages.length);
      for (const [index, before] of messages.entries()) {
        const after = result[index];
        if (index >= boundary || !['user', 'tool'].includes(before.role)) {
          assert.equal(after, before);
          continue;
        }
        const shape = (message: Message | undefined) => ({
          ...message,
          parts: message?.parts.map((part) =>
            part.type === 'text' ? { ...part, text: '' } : part,
          ),
        });
        assert.deepEqual(shape(after), shape(before));
        const emptied = after?.parts.some(
          (part, at) => part.type === 'text' && part.text === '' && textAt(before, at) !== '',
        );
        assert.equal(emptied, false, 'providers refuse empty texts');
      }
    }),
    run,
  );
});

function textAt(message: Message, at: number): string {
  const part = message.parts[at];
  return part?.type === 'text' ? part.text : '';
}

test(`is deterministic, never larger, the same array when nothing changes (seed ${seed})`, () => {
  fc.assert(
    fc.property(turns, options, (conversation, chosen) => {
      const messages = conversation.flat();
      const first = optimizeMessages(messages, chosen);
      assert.deepEqual(optimizeMessages(structuredClone(messages), chosen), first);
      assert.ok(first.tokensAfter <= first.tokensBefore);
      const changed = first.messages.some((message, index) => message !== messages[index]);
      assert.equal(first.messages !== messages, changed);
      assert.ok(changed || first.steps.length === 0);
      const saved = first.steps.reduce((sum, { tokensSaved }) => sum + tokensSaved, 0);
      assert.ok(Math.abs(saved - (first.tokensBefore - first.tokensAfter)) <= 9);
    }),
    run,
  );
});

test(`a longer conversation begins with the same bytes (seed ${seed})`, () => {
  fc.assert(
    fc.property(turns, turns, options, (conversation, more, chosen) => {
      const lossless = { ...chosen, allowLossyContext: false };
      const messages = conversation.flat();
      const short = optimizeMessages(messages, lossless).messages;
      const long = optimizeMessages([...messages, ...more.flat()], lossless).messages;
      const rewritten = rewrittenTo(messages, short);
      assert.deepEqual(long.slice(0, rewritten), short.slice(0, rewritten));
      // Behind a user turn an agent's loop goes on: even extraction has nothing new to decide by.
      const loop = more.flat().filter(({ role }) => role !== 'user');
      const before = optimizeMessages(messages, chosen).messages;
      const after = optimizeMessages([...messages, ...loop], chosen).messages;
      assert.deepEqual(after.slice(0, messages.length), before);
    }),
    run,
  );
});

test(`extraction only ever brings lines back (seed ${seed})`, () => {
  fc.assert(
    fc.property(turns, turns, options, (conversation, more, chosen) => {
      const lossy = { ...chosen, allowLossyContext: true };
      const messages = conversation.flat();
      const short = optimizeMessages(messages, lossy).messages;
      const long = optimizeMessages([...messages, ...more.flat()], lossy).messages;
      for (let index = 0; index < rewrittenTo(messages, short); index += 1) {
        const after = new Set(sentencesOf(long[index]));
        const gone = sentencesOf(short[index]).filter((each) => !after.has(each));
        // JSON is one line, and what was left out may be counted anew.
        const lost = gone.filter((each) => !/^[{[]/.test(each) && !each.includes(' left out …]'));
        assert.deepEqual(lost, []);
      }
    }),
    run,
  );
});

/** Lines, and the sentences of long ones. */
function sentencesOf(message: Message | undefined): string[] {
  const lines = message === undefined ? [] : textsOf([message]).flatMap((text) => text.split('\n'));
  return lines.flatMap((line) => line.split(/(?<=[.!?。]\s*)/).map((part) => part.trim()));
}

test(`a code block stays byte for byte, or stands word for word above (seed ${seed})`, () => {
  fc.assert(
    fc.property(turns, options, (conversation, chosen) => {
      const messages = conversation.flat();
      const { messages: result } = optimizeMessages(messages, chosen);
      for (const [index, before] of messages.entries()) {
        const above = textsOf(result.slice(0, index + 1)).join('\n\0\n');
        for (const block of textsOf([before]).flatMap(fencedBlocks)) {
          const isJson = before.role === 'tool' && textsOf([before])[0]?.startsWith('{');
          if (!isJson) assert.ok(above.includes(block), JSON.stringify(block.slice(0, 80)));
        }
      }
    }),
    run,
  );
});

test(`JSON of a tool stays JSON, and the same JSON without extraction (seed ${seed})`, () => {
  fc.assert(
    fc.property(
      fc.array(fc.json({ maxDepth: 4 }), { minLength: 300, maxLength: 400 }),
      options,
      (all, chosen) => {
        const value: unknown = { items: all.map((each) => JSON.parse(each)), exact: 0 };
        const json = JSON.stringify(value, null, 2).replace(
          '"exact": 0',
          '"exact": 123456789012345678901.50e7',
        );
        const messages = toolConversation([json], 'And then?');
        const [tool] = optimizeMessages(messages, chosen).messages.slice(-3);
        const [output = ''] = tool === undefined ? [] : textsOf([tool]);
        assert.ok(output.length < json.length || json.length < 12_000);
        assert.ok(output.includes('123456789012345678901.50e7'));
        const parsed: unknown = JSON.parse(output);
        if (!chosen.allowLossyContext) assert.deepEqual(parsed, JSON.parse(json));
      },
    ),
    run,
  );
});

test(`no fact that the last turn asks for is lost, without extraction none (seed ${seed})`, () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...FAMILIES),
      fc.constantFrom('en', 'de', 'es', 'fr', 'ja', 'zh'),
      fc.nat(),
      options,
      (family, language, number, chosen) => {
        const { messages, asked, others } = conversationOf(family, language, number, 5);
        const result = optimizeMessages(messages, chosen);
        const texts = textsOf(result.messages.slice(0, -1));
        const due = chosen.allowLossyContext ? asked : [...asked, ...others];
        for (const { quotes } of due) assert.ok(isReadable(texts, quotes), quotes.join(' · '));
      },
    ),
    { seed, numRuns: sampledRuns(60, 20) },
  );
});

test('a budget leaves more out, but nothing that is asked for', () => {
  const chosen = { profile: 'code', mode: 'balanced', allowLossyContext: true } as const;
  const { messages, asked } = conversationOf('operations', 'en', 7, 12);
  const free = optimizeMessages(messages, chosen);
  const tight = optimizeMessages(messages, { ...chosen, budgetTokens: 1_000 });
  assert.ok(tight.tokensAfter < free.tokensAfter);
  const texts = textsOf(tight.messages.slice(0, -1));
  for (const { quotes } of asked) assert.ok(isReadable(texts, quotes), quotes.join(' · '));
});

test('stays linear on hostile texts', async () => {
  const repeated = (text: string) => (bytes: number) => text.repeat(bytes / text.length);
  const words = ['[', '\u001b]', '\u001b[', '<script', '<!--', '"\\', '```\n', 'a\n\n', '“quote ”'];
  const hostile = [
    ...[' ', '\r', '漢', '"', ...words].map(repeated),
    repeated(`${'1% '.repeat(80)}\n`),
    repeated(`${'aB1'.repeat(170)}!`),
    (bytes: number) => `[${repeated('[],')(bytes)}[]]`,
  ];
  const chosen = { profile: 'research', mode: 'aggressive', allowLossyContext: true } as const;
  for (const textOf of hostile) {
    const workOf = (bytes: number) => {
      const text = textOf(bytes);
      const messages = toolConversation([text, `x${text}`], text.slice(0, 200_000));
      return () => optimizeMessages(messages, chosen);
    };
    await assertLinear(1_000_000, workOf, JSON.stringify(textOf(1_000).slice(0, 12)));
  }
});

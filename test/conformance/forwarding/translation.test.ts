// Every conversation of every format is taken by every family, and means the same there: the same
// words and calls come back. Also conversations that some formats allow and others do not, with
// results that are missing, late or strange.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { answerText, answerToolCalls } from '../../../media/model/answer.ts';
import type { GenerationRequest, Message } from '../../../media/model/request.ts';
import { requireFamily } from '../../../media/providers/families.ts';
import { fc } from '../../harness/properties.ts';
import { testSeed } from '../../harness/seed.ts';
import { randomFormats } from './formats.ts';
import { type Heard, hear, simulatedFamilies } from './provider.ts';

const seed = testSeed;

let sim: RunningSim;
before(async () => {
  sim = await startSim({ port: 0, key: null, seed: 1 });
});
after(() => sim.close());

/** What every family can say alike. */
function meaning({ answer }: Heard): unknown {
  const calls = answerToolCalls(answer).map(({ name, arguments: text }) => [name, text]);
  return { text: answerText(answer), calls };
}

/** Refusals are said in each format its own way; one of them takes no smaller ceiling. */
function isComparable({ messages, outputFormat, outputTokensMax }: GenerationRequest): boolean {
  if (outputTokensMax !== null && outputTokensMax < 16) return false;
  const refuses = messages.some(({ parts }) =>
    parts.some((part) => part.type === 'text' && part.text.includes('refusal=1')),
  );
  return !refuses && outputFormat.type !== 'json_object';
}

for (const { name, body, read } of randomFormats) {
  test(`${name}: every family takes it and says the same`, async () => {
    const url = `http://127.0.0.1:${sim.port}`;
    await fc.assert(
      fc.asyncProperty(body, async (sent) => {
        const request = read(structuredClone(sent));
        const able = simulatedFamilies.filter(
          (family) => requireFamily(family.name).lacks(request) === null,
        );
        const heard = await Promise.all(able.map((family) => hear(family, url, request)));
        for (const { failure } of heard) assert.equal(failure, null);
        if (!isComparable(request)) return;
        const [first] = heard;
        assert.ok(first);
        for (const other of heard) assert.deepEqual(meaning(other), meaning(first));
      }),
      { seed, numRuns: 200 },
    );
  });
}

/** Some messages left out, doubled or moved: what clients make of a conversation they cut. */
const damage = fc.array(fc.tuple(fc.nat(30), fc.constantFrom('drop', 'double', 'last')), {
  maxLength: 4,
});

function damaged(messages: Message[], steps: readonly [number, string][]): Message[] {
  let made = messages;
  for (const [place, how] of steps) {
    const at = place % made.length;
    const message = made[at];
    if (message === undefined) continue;
    const rest = made.toSpliced(at, 1);
    if (how === 'double') made = made.toSpliced(at, 0, message);
    else if (rest.length > 0) made = how === 'drop' ? rest : [...rest, message];
  }
  return made;
}

for (const { name, body, read } of randomFormats) {
  test(`${name}: a damaged conversation is taken by the families that mend it`, async () => {
    const url = `http://127.0.0.1:${sim.port}`;
    const mending = simulatedFamilies.filter(({ name: each }) =>
      /^(gemini|anthropic-messages)$/.test(each),
    );
    await fc.assert(
      fc.asyncProperty(body, damage, async (sent, steps) => {
        const request = read(structuredClone(sent));
        const messages = damaged(request.messages, steps);
        const source = { ...request.source, rewritten: true };
        for (const family of mending) {
          const { failure } = await hear(family, url, { ...request, messages, source });
          assert.equal(failure, null);
        }
      }),
      { seed, numRuns: 200 },
    );
  });
}

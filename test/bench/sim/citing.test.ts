// How simulated models answer numbered quoted results, in each family of models. They cite with
// good marks, or with the lie that was asked for.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type RunningSim, startSim } from '../../../bench/sim/server.ts';
import { post } from './probe.ts';

let sim: RunningSim;

before(async () => {
  sim = await startSim({ port: 0, key: null, seed: 7 });
});
after(() => sim.close());

const results = [
  ['Notes on coffee', 'https://a.example.com/1', 'Page 1 says 638 things. More of it.'],
  ['History', 'https://b.example.com/2', 'Page 2 says "313" things, v1.5 too! More.'],
  ['A third', 'https://c.example.com/3', 'Nobody cites this.'],
];

/** As a cited answer is asked for. */
function sources(question: string): string {
  const blocks = results.map(
    ([title, url, text], index) => `[${index + 1}] ${title}\n${url}\n${JSON.stringify(text)}`,
  );
  return `Sources:\n\n${blocks.join('\n\n')}\n\nQuestion: ${JSON.stringify(question)}`;
}

/** As a search of a generation stands before its question. */
function quoted(question: string): string {
  const blocks = results.map(
    ([title, url, text], index) => `[${index + 1}] ${title}\n${url}\nJan 3, 2026\n${text}`,
  );
  return `Results of a web search, to cite as [1], [2].\n\n${blocks.join('\n\n')}\n\n${question}`;
}

type Turn = { role: string; content: string };
type Said = Record<string, never> & {
  choices: { message: { content: string } }[];
  content: { text: string }[];
  output: { content: { text: string }[] }[];
  candidates: { content: { parts: { text: string }[] } }[];
};

const families: Record<string, (turns: Turn[]) => Promise<string | undefined>> = {
  async chat(messages) {
    const body = { model: 'simulated-chat-small-2026-01-15', messages };
    const reply = await post(sim, '/v1/chat/completions', body);
    return ((await reply.json()) as Said).choices[0]?.message.content;
  },
  async messages(messages) {
    const body = { model: 'simulated-messages-small-2026-01-15', max_tokens: 1_000, messages };
    const headers = { 'anthropic-version': '2023-06-01' };
    const reply = await post(sim, '/v1/messages', body, headers);
    return ((await reply.json()) as Said).content[0]?.text;
  },
  async responses(input) {
    const body = { model: 'simulated-responses-small-2026-01-15', input };
    const reply = await post(sim, '/v1/responses', body);
    return ((await reply.json()) as Said).output[0]?.content[0]?.text;
  },
  async gemini(turns) {
    const contents = turns.map(({ role, content }) => {
      return { role: role === 'user' ? 'user' : 'model', parts: [{ text: content }] };
    });
    const path = '/v1beta/models/simulated-gemini-small-2026-01-15:generateContent';
    const reply = await post(sim, path, { contents });
    return ((await reply.json()) as Said).candidates[0]?.content.parts[0]?.text;
  },
};

const good = 'Page 1 says 638 things [1]. Page 2 says "313" things, v1.5 too [2].';
const unsupported = 'Page 1 says 1951 things [1]. Page 2 says "1626" things, v1.5 too [2].';

for (const [name, say] of Object.entries(families)) {
  const told = (content: string) => say([{ role: 'user', content }]);

  test(`${name} cites what it is given, and lies where it is told to`, async () => {
    assert.equal(await told(sources('What of coffee?')), good);
    assert.equal(await told(sources('coffee [[sim cite=good]]')), good);
    assert.equal(await told(sources('coffee [[sim cite=unsupported]]')), unsupported);
    const unmarked = 'Page 1 says 638 things. Page 2 says "313" things, v1.5 too.';
    assert.equal(await told(sources('coffee [[sim cite=none]]')), unmarked);
    const unknown = (await told(sources('coffee [[sim cite=unknown]]'))) ?? '';
    assert.match(unknown, /638 things \[97\]\..*https:\/\/invented\.example\.org\//);
    assert.equal(await told(sources('coffee [[sim text=as_told]]')), 'as told');
    const placed = 'Sources:\n\n[1] A place\n\n"It is open until 10. Really."\n\nQuestion: when?';
    assert.equal(await told(placed), 'It is open until 10 [1].');
  });

  test(`${name} is repaired by a complaint`, async () => {
    const first = { role: 'user', content: sources('coffee [[sim cite=repair]]') };
    assert.equal(await say([first]), unsupported);
    const complaint = { role: 'user', content: 'No source supports it.' };
    assert.equal(await say([first, { role: 'assistant', content: unsupported }, complaint]), good);
  });

  test(`${name} cites other quoted results only where it is told to`, async () => {
    assert.equal(await told(quoted('coffee [[sim tokens=2]]')), ' t0 t1');
    assert.equal(await told(quoted('coffee [[sim cite=good]]')), good);
  });
}

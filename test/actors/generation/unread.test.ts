// Parts of an answer that nobody here can read are counted. A bounded number of them reaches the
// log, and the client gets the rest of the answer.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { UnreadParts } from '../../../actors/generation/unread.ts';
import type { Logger } from '../../../runtime/log.ts';
import { noMetrics } from '../../harness/request-deps.ts';
import { type ScriptedServer, startScriptedServer } from '../../harness/scripted-server.ts';
import { openStage, type Stage } from './stage.ts';

const counted: string[] = [];
const logged: [fields: Record<string, unknown>, message: string][] = [];
const log = {
  warn: (...line: [Record<string, unknown>, string]) => logged.push(line),
} as unknown as Logger;
const metrics = { ...noMetrics, unread: (family: string) => counted.push(family) };

const parts = [
  { type: 'text', text: 'a' },
  ...Array.from({ length: 20 }, (_, index) => ({ type: `kind_${index}` })),
  { type: 'text', text: 'b' },
];

let server: ScriptedServer<null>;
let stage: Stage;
before(async () => {
  server = await startScriptedServer<null>(null, (_, { response }) => {
    const chunks = [
      ...parts.map((part) => ({ delta: { content: [part] } })),
      { delta: {}, finish_reason: 'stop' },
    ];
    const events = chunks.map((choice) => JSON.stringify({ id: 'c', choices: [choice] }));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end([...events, '[DONE]'].map((data) => `data: ${data}\n\n`).join(''));
  });
  stage = await openStage({ before: [server.url], unread: new UnreadParts({ metrics, log }) });
});
after(async () => {
  await stage?.close();
  server?.close();
});

test('parts of unknown kinds are counted, logged once a minute, and leave the rest', async () => {
  const account = await stage.account();
  for (const times of [1, 2]) {
    const end = await stage.ask(account, 'hello');
    assert.ok(end.status === 'completed');
    assert.deepEqual(
      end.answer.items.map((item) => (item.type === 'text' ? item.text : item.type)),
      ['ab'],
    );
    assert.deepEqual(counted, new Array(20 * times).fill('openai-chat'));
    assert.equal(logged.length, 1, 'the names are the server’s own: they make no more lines');
  }
  const [[fields, message] = [{}, '']] = logged;
  assert.equal(fields.part, 'kind_0');
  assert.match(message, /unknown kind/);
});

test('each route has a line of its own, and another one when a minute has passed', () => {
  logged.length = 0;
  const unread = new UnreadParts({ metrics, log });
  const text = { type: 'text' as const, text: 'a', plain: true };
  const hear = (routeId: string, nowMs: number) =>
    unread.withoutThem(
      [text, { type: 'unread', part: 'other' }],
      {
        attempt: { candidate: { target: { routeId, family: 'gemini' } } },
        spec: { id: 'req', accountId: 'acc' },
      },
      nowMs,
    );
  for (const [route, nowMs] of [
    ['one', 0],
    ['one', 59_999],
    ['two', 59_999],
    ['one', 60_000],
  ] as const) {
    assert.deepEqual(hear(route, nowMs), [text]);
  }
  assert.deepEqual(
    logged.map(([{ route }]) => route),
    ['one', 'two', 'one'],
  );
});

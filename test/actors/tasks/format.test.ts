// Checks of answers at a pool that has no room, or is gone.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkAnswer } from '../../../actors/tasks/format.ts';
import type { TasksProtocol } from '../../../actors/tasks/protocol.ts';
import type { OutputFormat } from '../../../media/model/request.ts';
import type { ActorRef, Answer } from '../../../runtime/actor/contract.ts';
import type { TaskAnswer } from '../../../runtime/work/pool.ts';

const format: OutputFormat = { type: 'json_object' };
const full = { ok: true, value: { ok: false, refused: 'overloaded' } } as const;
const busy = { ok: false, reason: 'overloaded' } as const;

/** Tasks that answer in this order, the last one again and again. */
function scripted(answers: Answer<TaskAnswer<unknown>>[]) {
  const asked: unknown[] = [];
  const tasks = {
    kind: 'tasks',
    id: 'tasks',
    tell: () => undefined,
    async ask(_message: string, payload: unknown) {
      asked.push(payload);
      return answers[Math.min(asked.length, answers.length) - 1];
    },
  } as unknown as ActorRef<TasksProtocol>;
  return { tasks, asked };
}

const task = {
  name: 'check-format',
  payload: { format, text: '{}' },
  accountId: 'acc',
  isSettling: true,
};

test('a pool without room is asked again, as one that money waits for', async () => {
  for (const verdict of [true, false]) {
    const good = { ok: true, value: { ok: true, value: verdict } } as const;
    const { tasks, asked } = scripted([full, busy, good]);
    assert.equal(await checkAnswer(tasks, 'acc', format, '{}', 60_000), verdict);
    assert.deepEqual(asked, [task, task, task]);
  }
});

test('what nobody could look at in time is no verdict', async () => {
  assert.equal(await checkAnswer(scripted([full]).tasks, 'acc', format, '{}', 120), null);
  const late = scripted([{ ok: true, value: { ok: false, refused: 'timeout' } }]);
  assert.equal(await checkAnswer(late.tasks, 'acc', format, '{}', 60_000), null);
  assert.equal(late.asked.length, 1);
});

// The tool calls of a session: what is kept of those that nobody waits for has a bound.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ToolCalls } from '../../../../media/providers/openai-realtime/calls.ts';

test('of calls whose answers were given up the newest are kept: most never have a result', () => {
  const calls = new ToolCalls();
  const ids = Array.from({ length: 1_000 }, (_, index) => `call_${index}`);
  for (const id of ids) {
    calls.begin(id);
    calls.giveUp();
  }
  const kept = ids.filter((id) => calls.end(id));
  assert.deepEqual(kept, ids.slice(-256));
});

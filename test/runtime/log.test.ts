// A reader of the log that has stopped, as behind a paused terminal or a log driver that hangs.
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

for (const mode of ['sync', 'async']) {
  test(`a reader that is stuck holds up neither the work nor the end (${mode})`, async () => {
    const script = fileURLToPath(new URL('./log-child.js', import.meta.url));
    const child = fork(script, [mode], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    const late = setTimeout(() => child.kill('SIGKILL'), 20_000);
    let said = '';
    child.stderr?.on('data', (text) => {
      said += text;
    });
    try {
      const [[message], [code]] = await Promise.all([once(child, 'message'), once(child, 'exit')]);
      assert.deepEqual([message, code, said], ['logged', 0, '']);
    } finally {
      clearTimeout(late);
      child.stdout?.destroy();
    }
  });
}

// A process that runs several test files, one after the other: each becomes a suite, so that its
// hooks are its own. After a file that fails it stops: the others get a process that is clean.
import { once } from 'node:events';
import { describe } from 'node:test';
import { pathToFileURL } from 'node:url';
import { outermost, tell } from './reporter-task.ts';

/** Set when all files use one gateway. */
const isShared = process.env.TOLLGATE_TEST_SHARED !== undefined;

async function runFile(file: string): Promise<boolean> {
  tell({ type: 'file', name: file });
  const ended = once(outermost, 'end');
  describe(file, async () => {
    await import(pathToFileURL(file).href);
  });
  const [passed] = (await ended) as [boolean];
  return passed;
}

for (const file of process.argv.slice(2)) {
  if (!(await runFile(file))) break;
}
if (isShared) {
  const { closeSharedTestbed } = await import('../harness/testbed.ts');
  await closeSharedTestbed();
}

// Claude Code, where it is installed (its package is too large for this one): at the gateway
// it does a task with tools in three steps, whatever family the provider of the model speaks.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import type { TestAccount } from '../harness/account.ts';
import { openTestbed, type Testbed } from '../harness/testbed.ts';

const run = promisify(execFile);
const command = 'claude';
const isInstalled = spawnSync(command, ['--version'], { timeout: 60_000 }).status === 0;
const options = isInstalled ? {} : { skip: `${command} is not on the PATH` };

let bed: Testbed;
let account: TestAccount;
before(async () => {
  if (!isInstalled) return;
  bed = await openTestbed();
  account = await bed.account();
});
after(() => bed?.close());

function argumentsOf(value: Record<string, string>): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

const models = [
  'svc-sim-messages',
  'svc-sim-chat',
  'svc-sim-responses',
  'svc-sim-gemini',
  'svc-coder',
];

for (const model of models) {
  test(`writes a file, runs a command and answers (${model})`, options, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-agent-'));
    const [one, two] = [join(folder, 'one.txt'), join(folder, 'two.txt')];
    const write = argumentsOf({ file_path: one, content: 'hello\n' });
    const copy = argumentsOf({ command: `cat ${one} > ${two}`, description: 'copy' });
    const prompt = `Do it. [[sim call=Write:${write} call=Bash:${copy} text=all_is_done]]`;
    try {
      const child = run(command, ['-p', prompt, '--model', model, '--allowedTools', 'Write,Bash'], {
        cwd: folder,
        timeout: 300_000,
        env: {
          PATH: process.env.PATH,
          HOME: folder,
          ANTHROPIC_BASE_URL: account.baseUrl,
          ANTHROPIC_API_KEY: account.apiKey,
          ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        },
      });
      child.child.stdin?.end();
      const { stdout } = await child;
      assert.match(stdout, /all is done/);
      assert.equal(await readFile(two, 'utf8'), 'hello\n');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}

// The vendors' coding agents, unpatched, pointed at the gateway with a scripted model: a task of
// several steps that really changes a file, with models of every family and a managed route.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { assertNothingHeld } from '../chaos/books.ts';
import { assertLedger, cleanUp, openGateway } from '../chaos/reach.ts';
import type { Gateway } from '../harness/gateway.ts';
import { type AgentName, findAgents, packages, runAgent } from './agents.ts';
import { recorded, say } from './record.ts';

const models = [
  'svc-sim-responses',
  'svc-sim-messages',
  'svc-sim-chat',
  'svc-sim-gemini',
  'svc-coder',
];

const found = await findAgents();

after(async () => {
  await cleanUp();
  await found.remove();
});

/** Calls of the agent's own tools, one after the other; the last reads what the others made. */
function scriptOf(name: AgentName, path: string): string {
  const steps: [string, Record<string, string>][] =
    name === 'codex'
      ? [
          ['exec_command', { cmd: `printf one > ${path}` }],
          ['exec_command', { cmd: `printf ' two' >> ${path} && cat ${path}` }],
        ]
      : [
          ['Write', { file_path: path, content: 'one' }],
          ['Edit', { file_path: path, old_string: 'one', new_string: 'one two' }],
          ['Read', { file_path: path }],
        ];
  const calls = steps.map(
    ([tool, args]) => `call=${tool}:${Buffer.from(JSON.stringify(args)).toString('base64url')}`,
  );
  return `[[sim ${calls.join(' ')} text=it_is_done]]`;
}

/** The row of one run; throws when the file is not as the task wants it. */
async function play(gateway: Gateway, name: AgentName, model: string): Promise<string[]> {
  const root = await mkdtemp(join(tmpdir(), 'tollgate-agent-'));
  try {
    const folder = join(root, 'task');
    await mkdir(folder);
    const path = join(folder, 'made.txt');
    const prompt = `make the file ${scriptOf(name, path)}`;
    const task = { gateway, model, folder, prompt };
    const done = await runAgent(name, found.pathOf(name), task);
    const shown = `${name} with ${model}: ${done.output.slice(-3_000)}`;
    assert.equal(done.code, 0, shown);
    assert.match(done.output, /it is done/, shown);
    assert.equal(await readFile(path, 'utf8').catch(String), 'one two', shown);
    say(`${name} with ${model}: ${Math.round(done.durationMs)} ms`);
    return [packages[name], model, (done.durationMs / 1_000).toFixed(1), 'done'];
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

test('the coding agents of two vendors change a file, with models of every family', {
  skip: found.missing ?? false,
}, async () => {
  const frame = {
    name: 'long-agents',
    title: 'Coding agents of the vendors, unpatched',
    method:
      'Each is pointed at the gateway and runs unattended; a scripted model has it write a file, ' +
      'change it and read it, one call after the other. The file is compared.',
  };
  await recorded(frame, async () => {
    const gateway = await openGateway();
    const rows: string[][] = [];
    for (const name of Object.keys(packages) as AgentName[]) {
      for (const model of models) rows.push(await play(gateway, name, model));
    }
    await assertNothingHeld(gateway, 10_000);
    await assertLedger(gateway);
    return {
      columns: ['agent', 'model', 'seconds', 'outcome'],
      rows,
      bars: [
        {
          text: 'tasks done',
          limit: models.length * 2,
          measured: rows.length,
          unit: '',
          sense: 'least',
        },
      ],
      chart: null,
      notes: [],
    };
  });
});

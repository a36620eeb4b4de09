// The vendors' coding agents, unpatched, do a task of five tool calls that changes a file. Each
// chooses its model itself. Scripted models of every family stand behind that name in turn, and
// then a managed route over all of them.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { type RunningSim, startSim } from '../../bench/sim/server.ts';
import { assertNothingHeld } from '../chaos/books.ts';
import { assertLedger, cleanUp, openGateway, tail } from '../chaos/reach.ts';
import { simulatedPrices } from '../conformance/pairs/play.ts';
import type { Gateway } from '../harness/gateway.ts';
import {
  fileAfter,
  fileBefore,
  fileName,
  lastWords,
  modelsIn,
  resultsIn,
  taskOf,
  turnsIn,
} from './agent-task.ts';
import { type AgentName, agentNames, type Done, findAgents, packages, runAgent } from './agents.ts';
import { recorded, say } from './record.ts';
import { openTap, type Passed, type Tap } from './tap.ts';

const families = {
  responses: { family: 'openai-responses', base: '/v1' },
  chat: { family: 'openai-chat', base: '/v1' },
  messages: { family: 'anthropic-messages', base: '/v1' },
  gemini: { family: 'gemini', base: '/v1beta' },
} as const;
type FamilyName = keyof typeof families;
const familyNames = Object.keys(families) as FamilyName[];
const managed = 'managed';
/** What stands behind the names that the agents ask for. */
const behinds = [...familyNames, managed] as const;
type Behind = (typeof behinds)[number];

const found = await findAgents();
const folder = await mkdtemp(join(tmpdir(), 'tollgate-agents-test-'));

after(async () => {
  await cleanUp();
  await found.remove();
  await rm(folder, { recursive: true, force: true });
});

/** What the agents ask for when nobody has said which model. */
async function defaultModels(): Promise<Map<AgentName, string>> {
  const models = new Map<AgentName, string>();
  for (const name of agentNames) {
    const tap = await openTap(null);
    const { passed, url } = tap;
    const root = await mkdtemp(join(folder, 'first-'));
    const task = { url, key: 'none', prompt: 'hello', folder: join(root, 'task') };
    await mkdir(task.folder);
    const { output } = await runAgent(name, found.pathOf(name), task);
    tap.close();
    const [model, ...others] = modelsIn(passed);
    assert.ok(model !== undefined, `${name} asks for no model: ${output.slice(-3_000)}`);
    assert.deepEqual(others, [], `${name} asks for one model`);
    models.set(name, model);
  }
  return models;
}

/** The agents' own names of models, with `behind` as what answers. */
function catalogOf(behind: Behind, names: Iterable<string>, providerUrl: string): object {
  const providers = familyNames.map((name) => {
    const { family, base } = families[name];
    return { name: `p-${name}`, family, base_url: providerUrl + base, simulated: true };
  });
  const model = (alias: string, name: FamilyName) => ({
    alias,
    routes: [{ provider: `p-${name}`, upstream_model: `simulated-${name}-large-2026-01-15` }],
    price: simulatedPrices,
    capabilities: ['chat', 'tools', 'vision', 'structured_output', 'reasoning'],
    context_window: 400_000,
  });
  if (behind !== managed) {
    return { providers, models: [...names].map((alias) => model(alias, behind)) };
  }
  const pool = familyNames.map((name) => ({ model: `m-${name}`, quality: 70 }));
  return {
    providers,
    models: familyNames.map((name) => model(`m-${name}`, name)),
    routes: [...names].map((alias) => ({ alias, pool })),
  };
}

interface Played {
  done: Done;
  seen: Passed[];
  told: Passed[];
  file: string;
  results: readonly string[];
}

/** One task, with all that passed on both sides of the gateway. */
async function play(gateway: Gateway, provider: Tap, name: AgentName): Promise<Played> {
  const root = await mkdtemp(join(folder, 'task-'));
  const work = join(root, 'task');
  const path = join(work, fileName);
  await mkdir(work);
  await writeFile(path, fileBefore);
  await promisify(execFile)('git', ['init', '-q'], { cwd: work });
  const { prompt, results } = taskOf(name, path);
  provider.passed.length = 0;
  const tap = await openTap(gateway.url);
  try {
    const task = { url: tap.url, key: gateway.dev.api_key, prompt, folder: work };
    const done = await runAgent(name, found.pathOf(name), task);
    const file = await readFile(path, 'utf8').catch(String);
    return { done, seen: tap.passed, told: turnsIn(provider.passed), file, results };
  } finally {
    tap.close();
  }
}

/** What is wrong with a run; null: nothing. */
function faultOf({ done, seen, told, file, results }: Played, model: string): string | null {
  const refused = seen.find(({ status }) => status === 0 || status >= 400);
  if (refused !== undefined) {
    return `${refused.method} ${refused.path} was answered ${refused.status}`;
  }
  if (done.code !== 0) return `it ended with ${done.code}`;
  const asked = modelsIn(seen);
  if (asked.join() !== model) return `it asked for ${asked.join()}`;
  const given = told.length === 0 ? [] : resultsIn(told.at(-1) as Passed);
  if (given.length !== results.length) return `${given.length} results came back`;
  const wrong = results.findIndex((word, index) => given[index]?.includes(word) !== true);
  if (wrong >= 0) return `the result of call ${wrong + 1} is ${given[wrong]?.slice(0, 200)}`;
  const refusals = told.filter(({ status }) => status !== 200).length;
  if (refusals > 0) return `the provider refused ${refusals} turns`;
  // A call each, and the last words.
  const turns = results.length + 1;
  if (turnsIn(seen).length !== turns) return `${turnsIn(seen).length} turns, not ${turns}`;
  if (file !== fileAfter) return `the file is ${JSON.stringify(file)}`;
  return done.output.includes(lastWords) ? null : 'its last words are others';
}

async function rowsOf(
  behind: Behind,
  models: ReadonlyMap<AgentName, string>,
  sim: RunningSim,
): Promise<string[][]> {
  const provider = await openTap(`http://127.0.0.1:${sim.port}`);
  const path = join(folder, `${behind}.json`);
  await writeFile(path, JSON.stringify(catalogOf(behind, models.values(), provider.url)));
  const gateway = await openGateway({ env: { TOLLGATE_MODE: 'dev', TOLLGATE_CONFIG: path } });
  const rows: string[][] = [];
  for (const [name, model] of models) {
    const played = await play(gateway, provider, name);
    const fault = faultOf(played, model);
    const { done, seen, told } = played;
    const seconds = (done.durationMs / 1_000).toFixed(1);
    say(`${name} as ${model} at ${behind}: ${fault ?? 'done'}, ${seconds} s`);
    if (fault !== null) say(`${done.output.slice(-3_000)}\n${tail(gateway)}`);
    const turns = String(turnsIn(seen).length);
    const calls = String(told.length === 0 ? 0 : resultsIn(told.at(-1) as Passed).length);
    const version = await found.versionOf(name);
    rows.push([packages[name], version, model, behind, turns, calls, seconds, fault ?? 'done']);
  }
  await assertNothingHeld(gateway, 10_000);
  await assertLedger(gateway);
  await gateway.close();
  provider.close();
  return rows;
}

test('the coding agents of two vendors do a task under their own model’s name', {
  skip: found.missing ?? false,
}, async () => {
  const frame = {
    name: 'long-agents',
    title: 'Coding agents of the vendors, unpatched',
    method:
      'Each is pointed at the gateway and runs unattended, with the model that it chooses ' +
      'itself; behind that name is a model of each family, then a managed route over all four. ' +
      'A scripted model calls five of its tools, one after the other: look, read, a tool of ' +
      'another kind, edit, check. Done is: exit 0, the file as edited, six turns, five results ' +
      'at the provider, no error status on either side, the ledger right.',
  };
  await recorded(frame, async () => {
    const sim = await startSim({ port: 0, key: null, seed: 1 });
    try {
      const models = await defaultModels();
      const rows: string[][] = [];
      for (const behind of behinds) rows.push(...(await rowsOf(behind, models, sim)));
      return {
        columns: ['agent', 'version', 'model', 'behind it', 'turns', 'calls', 'seconds', 'outcome'],
        rows,
        bars: [
          {
            text: 'tasks done',
            limit: behinds.length * agentNames.length,
            measured: rows.filter((row) => row.at(-1) === 'done').length,
            unit: '',
            sense: 'least',
          },
        ],
        chart: null,
        notes: [],
      };
    } finally {
      sim.close();
    }
  });
});

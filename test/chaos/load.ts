// Clients that call without a pause and remember what they were told, so that what happened under
// them can be compared with the books. Every call has a key and a body of its own.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Gateway } from '../harness/gateway.ts';
import { type Stopwatch, startStopwatch } from '../harness/stopwatch.ts';
import { inBackground } from './background.ts';
import { type Call, chat, openAgent, type Told } from './client.ts';
import { type Format, formats } from './formats.ts';
import { onCleanUp, until } from './reach.ts';
import type { Chance } from './seed.ts';

export interface Spoken {
  key: string;
  text: string;
  stream: boolean;
  format: Format;
  model: string;
  /** As a background response, polled until it has ended. */
  background: boolean;
  told: Told;
}

/** What the callers ask for. */
export type Kind = 'chat' | 'every format';

const models = [
  'svc-sim-chat',
  'svc-sim-responses',
  'svc-sim-messages',
  'svc-sim-gemini',
  'svc-coder',
] as const;

export interface Load {
  readonly spoken: Spoken[];
  /** Runs since the first call. */
  readonly watch: Stopwatch;
  /** How many calls ended whole and well. */
  succeeded(): number;
  /** No new calls; resolves when those under way have ended. */
  stop(): Promise<void>;
}

let loads = 0;

/** `clients` callers, each one call at a time; they outlive a gateway that goes away. */
export function startLoad(
  gateway: Gateway,
  chance: Chance,
  clients: number,
  kind: Kind = 'chat',
): Load {
  const spoken: Spoken[] = [];
  const watch = startStopwatch();
  const agent = openAgent(clients);
  loads += 1;
  const name = `load-${chance.seed}-${loads}`;
  let going = true;
  onCleanUp(() => {
    going = false;
  });
  let number = 0;
  let succeeded = 0;
  const one = async (client: number): Promise<void> => {
    while (going) {
      number += 1;
      const key = `${name}-${client}-${number}`;
      const tokens = chance.integer(1, 40);
      const gap = chance.pick([0, 2, 10]);
      const text = `${key} [[sim tokens=${tokens} gap_ms=${gap}]]`;
      const stream = chance.integer(0, 3) > 0;
      const mixed = kind === 'every format';
      const format = mixed ? chance.pick(formats) : 'chat';
      const model = mixed ? chance.pick(models) : 'svc-sim-chat';
      const background = format === 'responses' && chance.integer(0, 1) === 0;
      const call = { key, text, stream, format, model, background };
      const told = await speak(gateway, { ...call, dispatcher: agent });
      spoken.push({ ...call, told });
      if (isGood(told)) succeeded += 1;
      else await sleep(200);
    }
  };
  const all = Promise.all(Array.from({ length: clients }, (_, client) => one(client)));
  return {
    spoken,
    watch,
    succeeded: () => succeeded,
    stop: async () => {
      going = false;
      await all;
      await agent.destroy();
    },
  };
}

function speak(gateway: Gateway, call: Call & { background: boolean }): Promise<Told> {
  return call.background ? inBackground(gateway, call) : chat(gateway, call);
}

export function isGood(told: Told): boolean {
  return told.status === 200 && told.complete && told.code === null && told.usage !== null;
}

/** The end of an answer that was charged before it failed: it is told again, never run again. */
function isSettledFailure({ usage, headers, complete }: Told): boolean {
  return complete && (usage?.replayed === true || headers['x-should-retry'] === 'false');
}

/** Keys whose clients got no end: each runs again, or is replayed, and is charged once. */
export async function repeatLost(gateway: Gateway, spoken: readonly Spoken[]): Promise<Spoken[]> {
  const lost = spoken.filter(({ told }) => !isGood(told) && told.usage === null);
  const agent = openAgent(16);
  const again: Spoken[] = [];
  const queue = [...lost];
  const worker = async (): Promise<void> => {
    for (let one = queue.pop(); one !== undefined; one = queue.pop()) {
      const { told: _lost, ...call } = { ...one, stream: !one.stream };
      const told = await speak(gateway, { ...call, dispatcher: agent });
      assert.ok(
        isGood(told) || isSettledFailure(told),
        `key ${one.key} runs again: ${JSON.stringify([call, told])}`,
      );
      again.push({ ...one, told });
    }
  };
  await Promise.all(Array.from({ length: 16 }, worker));
  await agent.destroy();
  return again;
}

/** The load has got somewhere: this many more good answers. */
export async function progress(load: Load, more: number, timeoutMs: number): Promise<void> {
  const goal = load.succeeded() + more;
  await until(`${more} more answers`, timeoutMs, () => load.succeeded() >= goal);
}

// Who calls during a soak: every persona is one way in which clients use the service, or leave it.
// Each says what it was told; an outcome that nobody asked for is an error that it throws.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Agent } from 'undici';
import type { SvcUsage } from '../../media/model/dialects/contract.ts';
import { inBackground } from '../chaos/background.ts';
import { type Call, chat, type Told } from '../chaos/client.ts';
import { type Format, formats } from '../chaos/formats.ts';
import { isGood } from '../chaos/load.ts';
import type { Chance } from '../chaos/seed.ts';
import type { Gateway } from '../harness/gateway.ts';
import {
  askResponses,
  type Caller,
  callResponses,
  endOf,
  firstEvents,
  responseBody,
  startBackground,
  streamOf,
} from '../harness/responses.ts';

export interface Stage {
  gateway: Gateway;
  chance: Chance;
  agent: Agent;
  /** Different at each call. */
  number(): number;
}

/** Resolves with every receipt that it was told. */
export type Persona = (stage: Stage) => Promise<(SvcUsage | null | undefined)[]>;

const exact = [
  'svc-sim-chat',
  'svc-sim-responses',
  'svc-sim-messages',
  'svc-sim-gemini',
  'svc-sim-tiered',
] as const;
const managed = [
  'svc-intelligent',
  'svc-coder',
  'svc-intelligent-direct',
  'svc-coder-direct',
] as const;

function callOf(stage: Stage, directive: string, more: Partial<Call> = {}): Call {
  const { chance, agent } = stage;
  const text = `soak ${stage.number()} ${directive}`;
  return {
    text,
    format: chance.pick(formats),
    model: chance.pick(exact),
    stream: chance.integer(0, 2) > 0,
    dispatcher: agent,
    ...more,
  };
}

function callerOf({ gateway }: Stage): Caller {
  return { baseUrl: gateway.url, apiKey: gateway.dev.api_key };
}

function tokensOf({ chance }: Stage): string {
  return `tokens=${chance.integer(1, 60)} gap_ms=${chance.pick([0, 1, 5, 20])}`;
}

async function good(stage: Stage, call: Call): Promise<Told> {
  const told = await chat(stage.gateway, call);
  assert.ok(isGood(told), `a good answer: ${shown(call, told)}`);
  return told;
}

function shown(
  { dispatcher: _agent, ...call }: Call,
  { headers: _headers, ...told }: Told,
): string {
  const { status, code, complete } = told;
  return JSON.stringify({ status, code, complete, call, told }).slice(0, 900);
}

const plain: Persona = async (stage) => {
  const told = await good(stage, callOf(stage, `[[sim ${tokensOf(stage)}]]`));
  return [told.usage];
};

const reasoning: Persona = async (stage) => {
  const directive = `[[sim reasoning=20 cached=3 ${tokensOf(stage)}]]`;
  return [(await good(stage, callOf(stage, directive))).usage];
};

const parameters = { type: 'object', properties: { place: { type: 'string' } } };
const tools: Record<Format, Record<string, unknown>> = {
  chat: { type: 'function', function: { name: 'look', parameters } },
  responses: { type: 'function', name: 'look', parameters },
  messages: { name: 'look', input_schema: parameters },
  legacy: { type: 'function', name: 'look', parameters },
};

const toolUser: Persona = async (stage) => {
  const format = stage.chance.pick(formats);
  const call = callOf(stage, '[[sim tool=look,look]]', {
    format,
    members: { tools: [tools[format]] },
  });
  return [(await good(stage, call)).usage];
};

const structured: Persona = async (stage) => {
  const schema = {
    type: 'object',
    properties: { name: { type: 'string' }, count: { type: 'integer' } },
    required: ['name', 'count'],
    additionalProperties: false,
  };
  const responseFormat = { type: 'json_schema', json_schema: { name: 'thing', schema } };
  const call = callOf(stage, '[[sim json=good]]', { members: { response_format: responseFormat } });
  return [(await good(stage, call)).usage];
};

const managedTalk: Persona = async (stage) => {
  const { chance } = stage;
  const conversation = `soak-${chance.integer(1, 50)}`;
  const call = callOf(stage, `[[sim ${tokensOf(stage)}]]`, {
    model: chance.pick(managed),
    members: { conversation_id: conversation },
  });
  const told = await chat(stage.gateway, call);
  // While failing personas have their way no route may be whole.
  const isAway = [429, 502, 503].includes(told.status);
  assert.ok(isGood(told) || isAway, `an answer of a managed route: ${shown(call, told)}`);
  return [told.usage];
};

const failing: Persona = async (stage) => {
  const { chance } = stage;
  const at = chance.integer(0, 6);
  const directive = chance.pick([
    `[[sim fault=cut at=${at}]]`,
    `[[sim fault=error at=${at}]]`,
    `[[sim fault=failed at=${at}]]`,
    `[[sim fault=garbage at=${at}]]`,
    '[[sim fault=no_usage]]',
    '[[sim fault=zero_usage]]',
    '[[sim fault=split_utf8]]',
    '[[sim status=500]]',
    '[[sim status=503 retry_after=1]]',
    '[[sim status=429 retry_after=1]]',
    '[[sim status=400]]',
  ] as const);
  const call = callOf(stage, directive, { model: chance.pick([...exact, 'svc-coder']) });
  const told = await chat(stage.gateway, call);
  assert.ok(told.complete, `an end is told: ${shown(call, told)}`);
  assert.ok(told.code !== 'internal' && told.status !== 500, `no bug: ${shown(call, told)}`);
  return [told.usage];
};

const refused: Persona = async (stage) => {
  const call = callOf(
    stage,
    '',
    stage.chance.pick([{ model: 'nobody' }, { apiKey: 'svc_live_x' }]),
  );
  const told = await chat(stage.gateway, call);
  assert.ok([400, 401, 404].includes(told.status), `refused: ${shown(call, told)}`);
  return [];
};

const cancelled: Persona = async (stage) => {
  const { gateway } = stage;
  let cancel: Promise<number> | null = null;
  const call = callOf(stage, '[[sim tokens=200 gap_ms=20]]', { stream: true });
  const told = await chat(gateway, {
    ...call,
    onDelta: ({ requestId }) => {
      cancel ??= fetch(`${gateway.url}/v1/generations/${requestId}/cancel`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.dev.api_key}` },
      }).then(async (reply) => {
        await reply.arrayBuffer();
        return reply.status;
      });
    },
  });
  assert.equal(await cancel, 200, `cancelled: ${shown(call, told)}`);
  assert.ok(told.complete && told.usage !== null, `an end is told: ${shown(call, told)}`);
  return [told.usage];
};

const leaverBefore: Persona = async (stage) => {
  const signal = AbortSignal.timeout(stage.chance.integer(1, 150));
  await chat(stage.gateway, callOf(stage, '[[sim first_ms=300 tokens=3]]', { signal }));
  return [];
};

/** Leaves after the first delta; with a key it comes back, twice at once, in both forms. */
const leaverAfter: Persona = async (stage) => {
  const { chance, gateway } = stage;
  const leave = new AbortController();
  const key = `soak-leaver-${chance.seed}-${stage.number()}`;
  const directive = `[[sim tokens=${chance.integer(5, 80)} gap_ms=${chance.pick([5, 15])}]]`;
  const call = callOf(stage, directive, { stream: true, key });
  await chat(gateway, { ...call, signal: leave.signal, onDelta: () => leave.abort() });
  if (chance.integer(0, 2) === 0) return [];
  await sleep(chance.pick([0, 50, 400]));
  const again = await Promise.all([
    good(stage, { ...call, stream: true }),
    good(stage, { ...call, stream: false }),
  ]);
  return again.map((told) => told.usage);
};

const crowd: Persona = async (stage) => {
  const key = `soak-crowd-${stage.chance.seed}-${stage.number()}`;
  const call = callOf(stage, '[[sim tokens=30 gap_ms=5]]', { key });
  const all = [true, true, false, false].map((stream) => good(stage, { ...call, stream }));
  return (await Promise.all(all)).map((told) => told.usage);
};

const background: Persona = async (stage) => {
  const call = callOf(stage, `[[sim ${tokensOf(stage)}]]`, { format: 'responses' });
  const told = await inBackground(stage.gateway, call);
  assert.ok(isGood(told), `a background answer: ${shown(call, told)}`);
  return [told.usage];
};

/** Streams a background response, leaves, comes back behind the last event, or cancels it. */
const backgroundReader: Persona = async (stage) => {
  const { chance } = stage;
  const caller = callerOf(stage);
  const text = `soak ${stage.number()} [[sim tokens=60 gap_ms=10]]`;
  const { id } = await startBackground(caller, text, { model: chance.pick(exact) });
  await firstEvents(await callResponses(caller, `/${id}?stream=true`), 5);
  if (chance.integer(0, 3) === 0) await askResponses(caller, `/${id}/cancel`, {});
  else await streamOf(caller, id, 4);
  return [(await endOf(caller, id)).svc_usage];
};

/** A conversation by `previous_response_id`, then its first response is deleted. */
const stored: Persona = async (stage) => {
  const caller = callerOf(stage);
  const model = stage.chance.pick(exact);
  const ask = (members: Record<string, unknown>) =>
    askResponses(caller, '', responseBody(`soak ${stage.number()}`, { model, ...members }));
  const first = await ask({});
  const second = await ask({ previous_response_id: first.body.id });
  for (const { status, body } of [first, second]) assert.equal(status, 200, JSON.stringify(body));
  const gone = await askResponses(caller, `/${first.body.id}`, undefined, { method: 'DELETE' });
  assert.equal(gone.status, 200, JSON.stringify(gone.body));
  return [first.body.svc_usage, second.body.svc_usage];
};

/** What costs nothing: counts, lists, the own account. */
const visitor: Persona = async (stage) => {
  const { gateway, chance } = stage;
  const path = chance.pick(['/v1/models', '/api/public/models', '/api/me/billing/summary']);
  const reply = await fetch(gateway.url + path, {
    headers: {
      authorization: `Bearer ${gateway.dev.api_key}`,
      'x-svc-session': gateway.dev.session_token,
    },
  });
  await reply.arrayBuffer();
  assert.equal(reply.status, 200, path);
  return [];
};

/** Each with how often it comes, of the sum of all. */
export const personas: readonly (readonly [name: string, weight: number, Persona])[] = [
  ['plain', 10, plain],
  ['reasoning', 2, reasoning],
  ['tools', 3, toolUser],
  ['structured', 3, structured],
  ['managed', 4, managedTalk],
  ['failing', 4, failing],
  ['refused', 1, refused],
  ['cancelled', 3, cancelled],
  ['leaves before', 3, leaverBefore],
  ['leaves after', 4, leaverAfter],
  ['crowd', 1, crowd],
  ['background', 2, background],
  ['background reader', 2, backgroundReader],
  ['stored', 2, stored],
  ['visitor', 2, visitor],
];

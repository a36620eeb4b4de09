// People who talk, all at once: each has a session, speaks a tone now and then, and comes back when
// its connection ends, with the token it was given. One clock sends the frames of all of them.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { Sql } from '../../db/driver/sql.ts';
import type { Gateway } from '../harness/gateway.ts';
import { VoiceClient, type VoiceEvent } from '../harness/voice-client.ts';
import { withBooks } from './books.ts';
import { until } from './reach.ts';
import type { Chance } from './seed.ts';

const frameMs = 32;
/** A turn: 320 ms of tone, then silence until the next one. */
const toneFrames = 10;

export interface Ending {
  reason: unknown;
  renewable: unknown;
  code: number;
}

interface Person {
  client: VoiceClient | null;
  /** Where in its turn it is, in frames. */
  place: number;
  turnFrames: number;
  turns: number;
  /** Of its newest session. */
  token: string | null;
}

export interface Crowd {
  /** How each connection ended that had become ready; `null` where nothing was said. */
  readonly endings: (Ending | null)[];
  readonly sessions: Set<string>;
  /** Answers that were begun. */
  spoken(): number;
  live(): number;
  /** Nobody comes back from now on. */
  tired(): void;
  /** All connections are cut, without a goodbye. */
  vanish(): void;
  stop(): void;
}

/** Opens so many sessions, and keeps as many open. Resolves when all are ready. */
export async function gather(gateway: Gateway, chance: Chance, count: number): Promise<Crowd> {
  const people = Array.from(
    { length: count },
    (): Person => ({
      client: null,
      place: chance.integer(0, 40),
      turnFrames: chance.integer(60, 120),
      turns: 0,
      token: null,
    }),
  );
  const endings: (Ending | null)[] = [];
  const sessions = new Set<string>();
  const state = { comesBack: true, runs: true };
  const spoken = { past: 0 };
  const frames = { tone: tone(440), silence: Buffer.alloc(1_024) };
  const attend = async (person: Person) => {
    while (state.runs && state.comesBack) {
      const client = await enter(gateway, sessions, person);
      if (client === null) {
        await sleep(50);
        continue;
      }
      person.client = client;
      await until('it ends', 600_000, () => client.closed !== null || !state.runs, 20);
      person.client = null;
      spoken.past += answersOf(client);
      if (state.runs) endings.push(endingOf(client));
    }
  };
  const clock = setInterval(() => {
    for (const person of people) speak(person, frames);
  }, frameMs);
  const attending = people.map(attend);
  for (const each of attending) each.catch(() => {});
  const live = () => people.filter(({ client }) => client !== null).length;
  await until(`${count} sessions are ready`, 30_000, () => live() === count, 20);
  return {
    endings,
    sessions,
    spoken: () =>
      people.reduce((sum, { client }) => sum + (client === null ? 0 : answersOf(client)), 0) +
      spoken.past,
    live,
    tired: () => {
      state.comesBack = false;
    },
    vanish: () => {
      for (const { client } of people) client?.socket.terminate();
    },
    stop: () => {
      state.runs = false;
      clearInterval(clock);
      for (const { client } of people) client?.socket.terminate();
    },
  };
}

async function enter(
  gateway: Gateway,
  sessions: Set<string>,
  person: Person,
): Promise<VoiceClient | null> {
  const apiKey = gateway.dev.api_key;
  const client = await VoiceClient.connect(gateway.url, { apiKey }).catch(() => null);
  if (client === null) return null;
  const given = person.token === null ? {} : { continuation_token: person.token };
  const ready = await client.ready(given).catch(() => null);
  if (ready === null) {
    client.socket.terminate();
    return null;
  }
  sessions.add(String(ready.session_id));
  person.token = String(ready.continuation_token);
  return client;
}

function speak(person: Person, frames: { tone: Buffer; silence: Buffer }): void {
  const { client } = person;
  if (client === null || client.socket.readyState !== WebSocket.OPEN) return;
  client.socket.send(person.place < toneFrames ? frames.tone : frames.silence);
  person.place = (person.place + 1) % person.turnFrames;
}

function answersOf(client: VoiceClient): number {
  return client.ofType('status').filter(({ state }) => state === 'speaking').length;
}

function endingOf(client: VoiceClient): Ending | null {
  const ended: VoiceEvent | undefined = client.ofType('session.ended')[0];
  if (ended === undefined) return null;
  const { reason, renewable } = ended;
  return { reason, renewable, code: client.closed?.code ?? 0 };
}

function tone(pitchHz: number): Buffer {
  const frame = Buffer.alloc(1_024);
  for (let index = 0; index < 512; index += 1) {
    const phase = (2 * Math.PI * pitchHz * index) / 16_000;
    frame.writeInt16LE(Math.round(12_000 * Math.sin(phase)), index * 2);
  }
  return frame;
}

interface Figures {
  sessions: bigint;
  live: bigint;
  charged: bigint;
  posted: bigint;
}

async function read(sql: Sql): Promise<Figures> {
  const [row] = await sql<Figures[]>`
    SELECT count(*) AS sessions, count(*) FILTER (WHERE state = 'live') AS live,
      coalesce(sum(charge_micros), 0)::bigint AS charged,
      (SELECT coalesce(sum(revenue_micros + provider_cost_micros), 0)::bigint
        FROM ledger WHERE kind IN ('settle', 'late')) AS posted
    FROM voice_sessions`;
  assert.ok(row !== undefined);
  return row;
}

/** Every session that was ready has its row, has ended, and was charged what the ledger says. */
export async function assertSessions(gateway: Gateway, crowd: Crowd): Promise<Figures> {
  return withBooks(gateway, async (sql) => {
    const figures = await read(sql);
    assert.equal(figures.live, 0n, 'no session lives on');
    assert.equal(figures.charged, figures.posted, 'the sum of the charges is in the ledger');
    const rows = await sql<{ id: string }[]>`SELECT id FROM voice_sessions`;
    const known = new Set(rows.map(({ id }) => id));
    for (const id of crowd.sessions) assert.ok(known.has(id), `session ${id} has no row`);
    return figures;
  });
}

// Live calls of the tests to upstreams that are stopped after each test.
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { type LiveBounds, openLiveCall } from '../../../../media/providers/live/call.ts';
import type {
  LiveCall,
  LiveDeadlines,
  LiveSetup,
} from '../../../../media/providers/live/contract.ts';
import { requireLiveFamily } from '../../../../media/providers/live/families.ts';
import { sessionUpdated } from './openai-realtime/fixtures.ts';
import { plainSetup } from './streams.ts';
import { Listener, type LiveUpstream, startUpstream, type UpstreamBehaviour } from './upstream.ts';

const generous: LiveDeadlines = { connectMs: 30_000, readyMs: 30_000 };
const running: LiveUpstream[] = [];

/** After each test. */
export async function stopUpstreams(): Promise<void> {
  await Promise.all(running.splice(0).map((upstream) => upstream.close()));
}

export async function upstreamOf(behaviour: UpstreamBehaviour): Promise<LiveUpstream> {
  const upstream = await startUpstream(behaviour);
  running.push(upstream);
  return upstream;
}

interface Opening {
  family?: string;
  setup?: LiveSetup;
  bounds?: Partial<LiveBounds>;
  deadlines?: Partial<LiveDeadlines>;
  path?: string;
}

export function openCall(
  port: number,
  opening: Opening = {},
): { call: LiveCall; listener: Listener } {
  const { family = 'openai-realtime', setup = plainSetup, bounds = {}, path = '/v1' } = opening;
  const deadlines = { ...generous, ...opening.deadlines };
  const listener = new Listener();
  const target = {
    routeId: 'r1',
    family,
    baseUrl: `http://127.0.0.1:${port}${path}`,
    apiKey: 'key-1',
    upstreamModel: 'live-1',
  };
  const call = openLiveCall(requireLiveFamily(family), setup, target, deadlines, listener, bounds);
  assert.deepEqual(listener.told, [], 'nothing is told before it returned');
  return { call, listener };
}

export function send(socket: WebSocket, ...messages: Record<string, unknown>[]): void {
  for (const message of messages) socket.send(JSON.stringify(message));
}

/** Sets up as it should, then does what `then` says. */
export function setsUp(then: (socket: WebSocket) => void = () => undefined): UpstreamBehaviour {
  return {
    message: (socket, { type }) => {
      if (type !== 'session.update') return;
      send(socket, sessionUpdated());
      then(socket);
    },
  };
}

export async function allClosed(upstream: LiveUpstream): Promise<void> {
  const deadlineMs = performance.now() + 30_000;
  while (upstream.sockets.size > 0 && performance.now() < deadlineMs) await sleep(10);
  assert.equal(upstream.sockets.size, 0, 'a socket stayed open');
}

/** The same, with the socket of the call's own side. */
export function openDialled(
  port: number,
  opening: Opening = {},
): ReturnType<typeof openCall> & { socket: Socket } {
  const dialled: Socket[] = [];
  const note = (message: unknown) => dialled.push((message as { socket: Socket }).socket);
  subscribe('net.client.socket', note);
  const opened = openCall(port, opening);
  unsubscribe('net.client.socket', note);
  const [socket] = dialled;
  assert.ok(socket !== undefined);
  return { ...opened, socket };
}

// Sessions with the simulator's Realtime family through the vendor's own client, for its tests.
import { connect } from 'node:net';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import type {
  RealtimeClientEvent,
  RealtimeServerEvent,
  SessionUpdateEvent,
} from 'openai/resources/realtime/realtime';
import type { RunningSim } from '../../../bench/sim/server.ts';
import { framesOf, Gathered } from './voice-probe.ts';

export const rateHz = 24_000;

export type ServerEvent<T extends RealtimeServerEvent['type']> = Extract<
  RealtimeServerEvent,
  { type: T }
>;

type Update = SessionUpdateEvent['session'] & { type: 'realtime' };

export class Talk {
  readonly client: OpenAIRealtimeWS;
  readonly events = new Gathered<RealtimeServerEvent>();
  readonly errors: { code: string; message: string; eventId: unknown }[] = [];
  readonly closed: Promise<number>;

  /** The client insists on TLS: its connection is replaced by a plain one to the simulator. */
  constructor(sim: RunningSim, apiKey: string, model = 'sim-realtime-2026', query = '') {
    const openai = new OpenAI({ apiKey, baseURL: `http://127.0.0.1:${sim.port}/v1${query}` });
    const createConnection = () => connect(sim.port, '127.0.0.1');
    this.client = new OpenAIRealtimeWS({ model, options: { createConnection } }, openai);
    this.client.on('error', ({ error, message }) => {
      this.errors.push({ code: error?.code ?? '', message, eventId: error?.event_id });
    });
    this.client.on('event', (event) => this.events.push(event));
    this.closed = new Promise((resolve) => this.client.socket.on('close', resolve));
  }

  send(event: RealtimeClientEvent): void {
    this.client.send(event);
  }

  /** All at once, in frames of 32 ms. */
  say(pcm: Buffer): void {
    for (const frame of framesOf(pcm, rateHz)) {
      this.send({ type: 'input_audio_buffer.append', audio: frame.toString('base64') });
    }
  }

  async until<T extends RealtimeServerEvent['type']>(type: T, from = 0): Promise<ServerEvent<T>> {
    const event = await this.events.until((candidate) => candidate.type === type, from);
    return event as ServerEvent<T>;
  }

  async done(from = 0) {
    return (await this.until('response.done', from)).response;
  }

  /** All of a type that came so far. */
  of<T extends RealtimeServerEvent['type']>(type: T, from = 0): ServerEvent<T>[] {
    return this.events.all
      .slice(from)
      .filter((event): event is ServerEvent<T> => event.type === type);
  }

  types(from = 0): string[] {
    return this.events.all.slice(from).map(({ type }) => type);
  }

  audio(from = 0): Buffer {
    const deltas = this.of('response.output_audio.delta', from);
    return Buffer.concat(deltas.map(({ delta }) => Buffer.from(delta, 'base64')));
  }

  get count(): number {
    return this.events.all.length;
  }
}

/** A session that is set up, with input transcription. */
export async function beginTalk(
  sim: RunningSim,
  instructions = '',
  more: Partial<Update> = {},
  query = '',
): Promise<Talk> {
  const talk = new Talk(sim, 'right', 'sim-realtime-2026', query);
  await talk.until('session.created');
  const transcription = { model: 'sim-transcribe-2026' };
  const session = { type: 'realtime' as const, instructions, audio: { input: { transcription } } };
  talk.send({ type: 'session.update', session: { ...session, ...more } });
  await talk.until('session.updated');
  return talk;
}

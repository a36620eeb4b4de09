// A provider of speech and transcription that does what a test wants: whole replies, slow ones, cut
// ones, nonsense. It keeps what it was asked.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ScriptedServer, startScriptedServer } from './scripted-server.ts';

export type AudioBehaviour =
  /** Pieces of audio with pauses between them; `cut` closes the connection after them, `endMs`
   * later than they were written. */
  | {
      kind: 'audio';
      pieces?: number;
      pauseMs?: number;
      firstMs?: number;
      endMs?: number;
      cut?: boolean;
    }
  | { kind: 'transcript'; text: string; usage?: unknown; delayMs?: number }
  | { kind: 'status'; status: number }
  | { kind: 'nonsense' | 'empty' | 'hangUp' | 'stall' };

export interface AudioAsked {
  path: string;
  authorization: string | undefined;
  contentType: string;
  body: Buffer;
  /** Whether the caller has closed the connection before the reply was whole. */
  isAborted: boolean;
}

export interface AudioProvider extends ScriptedServer<AudioBehaviour> {
  asked: AudioAsked[];
}

/** What a piece of mp3 looks like: a frame's sync, then anything. */
export const piece = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x00]), Buffer.alloc(4_092, 7)]);
export const wavPiece = Buffer.concat([Buffer.from('RIFF'), Buffer.alloc(4_092, 7)]);

export async function startAudioProvider(behaviour: AudioBehaviour): Promise<AudioProvider> {
  const asked: AudioAsked[] = [];
  const scripted = await startScriptedServer(behaviour, (wanted, { request, body, response }) => {
    const each = askedOf(request, body);
    response.on('close', () => {
      each.isAborted = !response.writableFinished;
    });
    asked.push(each);
    void respond(wanted, each, response);
  });
  return Object.assign(scripted, { asked });
}

function askedOf(request: IncomingMessage, body: Buffer): AudioAsked {
  return {
    path: request.url ?? '',
    authorization: request.headers.authorization,
    contentType: request.headers['content-type'] ?? '',
    body,
    isAborted: false,
  };
}

/** What nobody waits for any more keeps no process alive. */
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms).unref());

async function respond(
  behaviour: AudioBehaviour,
  asked: AudioAsked,
  response: ServerResponse,
): Promise<void> {
  const json = { 'content-type': 'application/json' };
  switch (behaviour.kind) {
    case 'audio': {
      const { pieces = 4, pauseMs = 0, firstMs = 0, endMs = 0, cut = false } = behaviour;
      const isWav = asked.body.includes('"response_format":"wav"');
      if (firstMs > 0) await pause(firstMs);
      response.writeHead(200, { 'content-type': 'audio/mpeg' });
      for (let index = 0; index < pieces && !response.destroyed; index += 1) {
        response.write(isWav ? wavPiece : piece);
        if (pauseMs > 0) await pause(pauseMs);
      }
      if (endMs > 0) await pause(endMs);
      if (cut) response.destroy();
      else response.end();
      return;
    }
    case 'transcript': {
      const { text, usage, delayMs = 0 } = behaviour;
      if (delayMs > 0) await pause(delayMs);
      response.writeHead(200, json).end(JSON.stringify({ text, usage, logprobs: [] }));
      return;
    }
    case 'status':
      response.writeHead(behaviour.status, json);
      response.end(JSON.stringify({ error: { message: 'secret words of the provider' } }));
      return;
    case 'nonsense':
      response.writeHead(200, json).end('{"error":"secret words of the provider"}');
      return;
    case 'empty':
      response.writeHead(200, { 'content-type': 'audio/mpeg' }).end();
      return;
    case 'hangUp':
      response.destroy();
      return;
    case 'stall':
  }
}

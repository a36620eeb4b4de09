// A provider of speech and transcription that does what a test wants: whole replies, slow ones, cut
// ones, nonsense. It keeps what it was asked.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

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

export interface AudioProvider {
  /** With the version prefix. */
  url: string;
  behaviour: AudioBehaviour;
  /** For the next requests, before `behaviour`. */
  first: AudioBehaviour[];
  asked: AudioAsked[];
  close(): void;
}

/** What a piece of mp3 looks like: a frame's sync, then anything. */
export const piece = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x00]), Buffer.alloc(4_092, 7)]);
export const wavPiece = Buffer.concat([Buffer.from('RIFF'), Buffer.alloc(4_092, 7)]);

export async function startAudioProvider(behaviour: AudioBehaviour): Promise<AudioProvider> {
  const server = createServer((request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(404).end();
      return;
    }
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const asked = askedOf(request, Buffer.concat(parts));
      response.on('close', () => {
        asked.isAborted = !response.writableFinished;
      });
      provider.asked.push(asked);
      void respond(provider.first.shift() ?? provider.behaviour, asked, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const provider: AudioProvider = {
    url: `http://127.0.0.1:${port}/v1`,
    behaviour,
    first: [],
    asked: [],
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return provider;
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

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

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

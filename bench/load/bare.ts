// The bare relay: uWebSockets.js + undici, bytes forwarded, no logic. It is the floor of what this
// runtime can do, so it must be as good as we can write it: one write per chunk, one for a whole
// small answer, aborts forwarded, and the upstream paused while the client is slow.
import { App, type HttpResponse } from 'uWebSockets.js';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { type Dispatcher, Pool } from 'undici';

interface Settings {
  port: number;
  upstream: string;
  threads: number;
}

if (isMainThread) {
  const { values } = parseArgs({
    options: {
      port: { type: 'string' },
      upstream: { type: 'string' },
      threads: { type: 'string', default: '1' },
    },
  });
  const settings: Settings = {
    port: Number(values.port),
    upstream: values.upstream ?? '',
    threads: Number(values.threads),
  };
  let listening = 0;
  for (let index = 0; index < settings.threads; index++) {
    const worker = new Worker(new URL(import.meta.url), { workerData: settings });
    worker.on('message', () => {
      listening++;
      if (listening === settings.threads) console.log('bare relay ready');
    });
  }
} else {
  serve(workerData as Settings);
}

function serve(settings: Settings): void {
  const pool = new Pool(settings.upstream, {
    connections: null,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  App()
    .post('/*', (response, request) => {
      const path = request.getUrl();
      const headers: Record<string, string> = {
        'content-type': request.getHeader('content-type'),
      };
      // The one header that an upstream's format insists on.
      const version = request.getHeader('anthropic-version');
      if (version !== '') headers['anthropic-version'] = version;
      collectBody(response, (body) => forward(pool, response, path, headers, body));
    })
    .listen('127.0.0.1', settings.port, (socket) => {
      if (!socket) throw new Error(`cannot listen on port ${settings.port}`);
      parentPort?.postMessage('listening');
    });
}

function collectBody(response: HttpResponse, done: (body: Buffer) => void): void {
  let collected: Buffer | null = null;
  response.onData((part, isLast) => {
    const copy = Buffer.from(part.slice(0)); // uWS takes its memory back after this call
    collected = collected === null ? copy : Buffer.concat([collected, copy]);
    if (isLast) done(collected);
  });
  response.onAborted(() => undefined);
}

function forward(
  pool: Pool,
  response: HttpResponse,
  path: string,
  headers: Record<string, string>,
  body: Buffer,
): void {
  const handler = new Relay(response);
  response.onAborted(() => handler.abort());
  pool.dispatch({ path, method: 'POST', headers, body }, handler);
}

class Relay implements Dispatcher.DispatchHandler {
  readonly #response: HttpResponse;
  #controller: Dispatcher.DispatchController | null = null;
  #gone = false;
  #headWritten = false;
  #status = '200 OK';
  #contentType = '';
  #length = -1;

  constructor(response: HttpResponse) {
    this.#response = response;
  }

  abort(): void {
    this.#gone = true;
    this.#controller?.abort(new Error('client gone'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#gone) controller.abort(new Error('client gone'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
    message?: string,
  ): void {
    this.#status = `${status} ${message ?? ''}`;
    this.#contentType = String(headers['content-type'] ?? '');
    this.#length = Number(headers['content-length'] ?? -1);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#gone) return;
    const response = this.#response;
    response.cork(() => {
      if (!this.#headWritten) {
        this.#writeHead();
        if (chunk.length === this.#length) {
          this.#gone = true; // complete: an abort can no longer come
          response.end(chunk);
          return;
        }
      }
      if (response.write(chunk)) return;
      controller.pause();
      response.onWritable(() => {
        controller.resume();
        return true;
      });
    });
  }

  onResponseEnd(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#response.cork(() => {
      if (!this.#headWritten) this.#writeHead();
      this.#response.end();
    });
  }

  onResponseError(): void {
    if (this.#gone) return;
    this.#gone = true;
    if (this.#headWritten) this.#response.close();
    else this.#response.cork(() => this.#response.writeStatus('502 Bad Gateway').end());
  }

  #writeHead(): void {
    this.#headWritten = true;
    this.#response.writeStatus(this.#status).writeHeader('content-type', this.#contentType);
  }
}

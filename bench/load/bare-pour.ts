// The bare file server: uWebSockets.js pours a plain file from the disk, with a range, as its
// clients take it. Nothing is decrypted, nobody is asked who reads.
import { App, type HttpResponse } from 'uWebSockets.js';
import { type FileHandle, open } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

interface Settings {
  port: number;
  file: string;
  threads: number;
}

const PIECE_BYTES = 65_536;

if (isMainThread) {
  const { values } = parseArgs({
    options: {
      port: { type: 'string' },
      file: { type: 'string' },
      threads: { type: 'string', default: '1' },
    },
  });
  const settings: Settings = {
    port: Number(values.port),
    file: values.file ?? '',
    threads: Number(values.threads),
  };
  let listening = 0;
  for (let index = 0; index < settings.threads; index++) {
    const worker = new Worker(new URL(import.meta.url), { workerData: settings });
    worker.on('message', () => {
      listening++;
      if (listening === settings.threads) console.log('bare file server ready');
    });
  }
} else {
  await serve(workerData as Settings);
}

async function serve({ port, file }: Settings): Promise<void> {
  const handle = await open(file, 'r');
  const { size } = await handle.stat();
  App()
    .get('/*', (response, request) => {
      const [, from = '0'] = /^bytes=(\d+)-$/.exec(request.getHeader('range')) ?? [];
      void pour(response, handle, Number(from), size);
    })
    .listen('127.0.0.1', port, (socket) => {
      if (!socket) throw new Error(`cannot listen on port ${port}`);
      parentPort?.postMessage('listening');
    });
}

async function pour(
  response: HttpResponse,
  handle: FileHandle,
  from: number,
  size: number,
): Promise<void> {
  let gone = false;
  let wake = () => {};
  response.onAborted(() => {
    gone = true;
    wake();
  });
  response.onWritable(() => {
    wake();
    return true;
  });
  const length = size - from;
  const room = Buffer.allocUnsafe(PIECE_BYTES);
  for (let sent = 0; sent < length && !gone; ) {
    const { bytesRead } = await handle.read(room, 0, PIECE_BYTES, from + sent);
    for (let at = 0; at < bytesRead && !gone; ) {
      let isTaken = false;
      response.cork(() => {
        if (sent === 0) {
          response.writeStatus('206 Partial Content');
          response.writeHeader('content-range', `bytes ${from}-${size - 1}/${size}`);
        }
        [isTaken] = response.tryEnd(room.subarray(at, bytesRead), length);
      });
      const taken = isTaken ? bytesRead - at : response.getWriteOffset() - sent;
      at += taken;
      sent += taken;
      if (isTaken) continue;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
}

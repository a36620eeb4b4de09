// A thread on which some of what runs at the end of a turn throws. It tells its parent what ran,
// and what reached the thread as an error.
import type { HttpResponse } from 'uWebSockets.js';
import { parentPort } from 'node:worker_threads';
import { createStreamTable, HttpEventStream } from '../../runtime/http/stream.ts';
import { createTicker } from '../../runtime/http/ticker.ts';
import { atTurnEnd } from '../../runtime/turns.ts';

const ran: string[] = [];
process.on('uncaughtException', (error) => ran.push(`error ${error.message}`));

function run(name: string): void {
  ran.push(name);
  if (name.startsWith('broken')) throw new Error(name);
}

const ticker = createTicker(60_000, []);
const table = createStreamTable(() => ticker, 1_024);

/** A stream over as much of uWS as it uses, which shows what is written after the headers. */
function openStream(): HttpEventStream {
  const response = {
    write(text: string) {
      if (text !== 'begun') run(text);
      return true;
    },
    cork: (send: () => void) => send(),
    onWritable: () => response,
  };
  const stream = new HttpEventStream(table, { everyMs: 60_000, text: 'begun' });
  stream.open(response as unknown as HttpResponse);
  return stream;
}

const names = ['broken 1', 'fine 2', 'broken 3', 'fine 4'];
for (const name of names) atTurnEnd(() => run(`${name} at the end`));
setTimeout(() => {
  for (const name of names) openStream().write(`${name} in a stream`);
  setTimeout(() => parentPort?.postMessage(ran), 10);
}, 10);

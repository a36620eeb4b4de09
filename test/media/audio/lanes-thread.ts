// A thread with lanes, as a shard is one: sends frames for ever, and says when some are back.
import { strict as assert } from 'node:assert';
import { parentPort } from 'node:worker_threads';
import pino from 'pino';
import { createLanes } from '../../../media/audio/lanes/lanes.ts';
import { frameBytesMax } from '../../../media/audio/lanes/slab.ts';

const lanes = createLanes({ lanesMax: 1, log: pino({ level: 'silent' }) });
const lane = lanes.open({
  output: () => parentPort?.postMessage('heard'),
  failed: () => assert.fail('the lanes failed'),
  fault(error) {
    throw error;
  },
});
setInterval(() => lane?.push(new Uint8Array(frameBytesMax)), 1);

// An upstream that talks and does not read: what waits for it has a bound, whatever it asks for.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { created, done, functionCall } from './openai-realtime/fixtures.ts';
import { openDialled, send, setsUp, stopUpstreams, upstreamOf } from './session.ts';

afterEach(stopUpstreams);

test('results of calls that nobody takes end the session before they fill the memory', async () => {
  const setUp = setsUp();
  const upstream = await upstreamOf({
    message: (socket, message) => {
      setUp.message?.(socket, message);
      if (message.type !== 'input_audio_buffer.append') return;
      const calls = Array.from({ length: 64 }, (_, index) =>
        functionCall(`c${index}`, 'clock', '{}'),
      );
      send(socket, created(), ...calls.flat(), done());
    },
  });
  const { call, listener, socket } = openDialled(upstream.port);
  await listener.until('ready');
  call.audio(new Uint8Array(960));
  await listener.until('usage');
  // As when the kernel takes nothing more: what is written waits in this process.
  socket.cork();
  const output = JSON.stringify({ text: 'x'.repeat(20_000) });
  for (let index = 0; index < 64; index += 1) call.toolResult(`c${index}`, 'clock', output);
  const waitingBytes = socket.writableLength;
  assert.ok(waitingBytes > 520 * 1024, 'what audio may not fill is left for results');
  assert.ok(waitingBytes < 800 * 1024, `${waitingBytes} bytes wait, and no more`);
  const { kind, text } = await listener.until('failed');
  assert.equal(kind, 'closed', text);
  assert.ok(listener.types.includes('usage'), 'what it cost is told before');
  socket.uncork();
});

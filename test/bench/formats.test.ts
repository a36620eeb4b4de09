// A stream is only measured if it is whole: the framing that the benches expect of each format is
// that of the simulator's own streams.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  bodyOf,
  familyModels,
  formatPaths,
  formats,
  framingEvents,
  ownFamilies,
} from '../../bench/formats.ts';
import { type RunningSim, startSim } from '../../bench/sim/server.ts';

let sim: RunningSim;
before(async () => {
  sim = await startSim({ port: 0, key: null, seed: 1 });
});
after(() => sim.close());

const tokens = 7;

for (const format of formats) {
  test(`${format}: a whole stream has its framing, and one that is cut has less`, async () => {
    const model = familyModels[ownFamilies[format]].upstream;
    const countOf = async (orders: string): Promise<number> => {
      const reply = await fetch(`http://127.0.0.1:${sim.port}${formatPaths[format]}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
        body: bodyOf(format, model, `[[sim tokens=${tokens} ${orders}]] Hello.`, true),
      });
      assert.equal(reply.status, 200);
      return (await reply.text()).split('\n\n').length - 1;
    };
    const whole = await countOf('');
    assert.ok(whole >= tokens + framingEvents[format], `${whole} events`);
    assert.ok(whole - 1 <= tokens + framingEvents[format], 'a ping at most is not demanded');
    assert.ok((await countOf('fault=error at=5')) < tokens + framingEvents[format]);
  });
}

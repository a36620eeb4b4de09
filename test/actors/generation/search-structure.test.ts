// Structured output together with a provider's own search, which some cannot have in one request.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ask } from '../../harness/formats.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

let bed: Testbed;
before(async () => {
  bed = await openTestbed();
});
after(() => bed?.close());

const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
const formats = {
  json_object: { type: 'json_object' },
  json_schema: { type: 'json_schema', json_schema: { name: 'x', schema } },
};

for (const model of ['svc-sim-responses', 'svc-sim-messages', 'svc-sim-gemini']) {
  test(`${model}: searches, and answers in the format that was asked for`, async () => {
    const account = await bed.account();
    for (const response_format of Object.values(formats)) {
      for (const stream of [true, false]) {
        const text = 'penguins in JSON [[sim search=1 text={"a":"b"}]]';
        const members = { web_search: true, response_format };
        const told = await ask('chat', account, { model, text, members, stream });
        assert.equal(told.error, null, told.raw);
        assert.equal(told.text.trim(), '{"a":"b"}');
        assert.equal(told.svcUsage?.search_calls, 1, told.raw);
      }
    }
  });
}

// Settings of requests, through the gateway: a header names what a model has nothing like, and
// logprobs that it cannot tell are refused.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { TestAccount } from '../../harness/account.ts';
import { ask } from '../../harness/formats.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';

let bed: Testbed;
let account: TestAccount;
before(async () => {
  bed = await openTestbed();
  account = await bed.account();
});
after(() => bed?.close());

test('what a model has nothing like is named, an inner member by its path', async () => {
  const members = {
    presence_penalty: 0.5,
    text: { verbosity: 'low' },
    service_tier: 'flex',
    truncation: 'disabled',
  };
  const wanted = {
    'svc-sim-responses': 'service_tier',
    'svc-sim-chat': 'service_tier, text.verbosity',
    'svc-sim-messages': 'presence_penalty, service_tier, text.verbosity',
    'svc-sim-gemini': 'service_tier, text.verbosity',
  };
  for (const [model, dropped] of Object.entries(wanted)) {
    const { status, headers } = await ask('responses', account, { model, text: 'x', members });
    assert.equal(status, 200);
    assert.equal(headers.get('x-svc-dropped-members'), dropped, model);
  }
});

test('logprobs are refused by their path at a model that has none', async () => {
  const members = { logprobs: true };
  for (const model of ['svc-sim-messages', 'svc-sim-gemini']) {
    const { status, error } = await ask('chat', account, { model, text: 'x', members });
    assert.equal(status, 400, model);
    assert.equal(error?.param, 'logprobs');
    const scored = { top_logprobs: 2 };
    const other = await ask('responses', account, { model, text: 'x', members: scored });
    assert.equal(other.error?.param, 'top_logprobs');
  }
  const managed = { model: 'svc-intelligent', text: 'x', members };
  assert.equal((await ask('chat', account, managed)).status, 200);
});

// The approval page as it leaves: what an app says about itself stays data in it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ApprovalData, renderApproval } from '../../../../routes/pages/identity/approval.ts';

const data: ApprovalData = {
  request: 'svc_seal_1',
  client: {
    id: 'svc-cli',
    display_name: '</script><!--<script>$& %MAIN%',
    host: null,
    first_party: true,
    verified: true,
  },
  scopes: ['profile'],
  account: { email: 'ann@example.com', full_name: 'Ann', id: 'acc_1' },
  redirect: { kind: 'loopback', shown: '127.0.0.1:4711' },
};

test('markup in a name is data of the page, and nothing else', () => {
  const reply = renderApproval(data);
  assert.ok('text' in reply);
  const [, embedded = ''] = /id="data">(.*)<\/script>/.exec(reply.text) ?? [];
  assert.doesNotMatch(embedded, /</);
  assert.deepEqual(JSON.parse(embedded), data);
  assert.equal(reply.text.split('</script>').length, 3, 'of the module and of the data');
});

test('it is never stored, framed, or told to whom it leads', () => {
  const { headers = {} } = renderApproval(data);
  assert.equal(headers['cache-control'], 'no-store');
  assert.equal(headers['referrer-policy'], 'no-referrer');
  const policy = headers['content-security-policy'] ?? '';
  for (const directive of ["form-action 'none'", "frame-ancestors 'none'", "script-src 'self'"]) {
    assert.ok(policy.split('; ').includes(directive), policy);
  }
  assert.doesNotMatch(policy, /unsafe|https?:/);
});

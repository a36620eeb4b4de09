// A canary for each secret of the OAuth server. After whole lives of tokens none stands in a log,
// in a refusal, or in the database. The log is at its most talkative.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { approveCode } from '../../harness/oauth.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { codeForm, type OAuthCalls, openOAuthCalls, tokensOf } from './calls.ts';
import { makeSecretClient } from './secret-client.ts';

let bed: Testbed;
let calls: OAuthCalls;
before(async () => {
  bed = await openTestbed({ env: { TOLLGATE_LOG_LEVEL: 'debug' }, shards: 1 });
  calls = await openOAuthCalls(bed.url);
});
after(() => bed?.close());

/** Every row of every table as text. */
async function dump(): Promise<string> {
  const tables = await bed.sql<{ name: string }[]>`
    SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`;
  const texts: string[] = [];
  for (const { name } of tables) {
    const rows = await bed.sql.unsafe<{ text: string }[]>(
      `SELECT row_to_json(t)::text AS text FROM "${name}" t`,
    );
    texts.push(...rows.map(({ text }) => text));
  }
  return texts.join('\n');
}

test('no secret is written down or told again', async () => {
  const { accountId } = await bed.account();
  const clientSecret = await makeSecretClient(bed, 'canary');
  const approved = await approveCode(bed.sql, accountId, {
    client: 'canary',
    redirectUri: 'https://server.example.com/callback',
  });
  const client = { client_id: 'canary', client_secret: clientSecret };
  const refusals: string[] = [];
  const ask = async (path: string, form: Record<string, string>) => {
    const reply = await calls.post(path, { ...client, ...form });
    if (reply.status >= 400) refusals.push(reply.text);
    return reply;
  };
  const first = tokensOf(await ask('/oauth/token', codeForm(approved)));
  const refreshed = { grant_type: 'refresh_token', refresh_token: first.refresh_token };
  const second = tokensOf(await ask('/oauth/token', refreshed));
  await ask('/oauth/token', { ...refreshed, client_secret: `${clientSecret}x` });
  const device = await ask('/oauth/device/code', {});
  const deviceCode = String(device.json.device_code);
  await calls.poll(deviceCode);
  await ask('/oauth/token', codeForm(approved));
  await ask('/oauth/revoke', { token: second.access_token });
  await ask('/oauth/revoke', { token: second.refresh_token });
  assert.equal(refusals.length, 2);

  const userCode = String(device.json.user_code);
  const secrets = {
    'client secret': clientSecret,
    code: approved.code,
    verifier: approved.verifier,
    'access token': first.access_token,
    'second access token': second.access_token,
    'refresh token': first.refresh_token,
    'second refresh token': second.refresh_token,
    'device code': deviceCode,
    'user code': userCode,
    'user code without its dash': userCode.replace('-', ''),
  };
  const places = {
    'the log': bed.gateway.logs.join('\n'),
    'a refusal': refusals.join('\n'),
    'the database': await dump(),
  };
  assert.match(places['the log'], /oauth\/token/, 'it tells of requests');
  for (const [place, text] of Object.entries(places)) {
    for (const [name, secret] of Object.entries(secrets)) {
      assert.ok(!text.includes(secret), `a ${name} stands in ${place}`);
      const bytes = Buffer.from(secret).toString('hex');
      assert.ok(!text.includes(bytes), `a ${name} stands in ${place} as bytes`);
    }
  }
});

// A confidential client for tests, made as an administrator makes it.
import assert from 'node:assert/strict';
import { deviceGrant } from '../../../actors/oauth/client.ts';
import type { Testbed } from '../../harness/testbed.ts';
import { openAdminApi } from '../admin/admin-api.ts';

/** Its secret. */
export async function makeSecretClient(bed: Testbed, name: string): Promise<string> {
  const adminApi = await openAdminApi(bed);
  const made = await adminApi('POST', '/oauth-clients', {
    body: {
      name,
      display_name: 'A server',
      type: 'confidential',
      redirect_uris: ['https://server.example.com/callback'],
      grants: ['authorization_code', 'refresh_token', deviceGrant],
      scopes: ['profile', 'email', 'offline_access', 'app'],
    },
  });
  assert.equal(made.status, 201, made.text);
  const reply = await adminApi('POST', `/oauth-clients/${name}/secret`);
  assert.equal(reply.status, 200, reply.text);
  return String(reply.json.secret);
}

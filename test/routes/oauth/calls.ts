// How tests ask the endpoints of the OAuth server: forms, each over a connection of its own where
// every shard is to be asked. Replies are held against the documents.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { deviceGrant } from '../../../actors/oauth/client.ts';
import type { Sql } from '../../../db/driver/sql.ts';
import { Contract, type Reply } from '../../harness/contract.ts';
import { type ApprovalOptions, approveCode } from '../../harness/oauth.ts';

export type Form = Record<string, string>;

export interface Tokens {
  access_token: string;
  refresh_token: string;
  expires_in: number;
  scope: string;
}

export interface OAuthCalls {
  contract: Contract;
  post(path: string, form: Form | string, headers?: Record<string, string>): Promise<Reply>;
  /** GET with an access token. */
  get(path: string, accessToken: string): Promise<Reply>;
  /** A code of the account, redeemed. */
  signIn(sql: Sql, accountId: string, options?: ApprovalOptions): Promise<Tokens>;
  refresh(token: string, more?: Form): Promise<Reply>;
  poll(deviceCode: string, more?: Form): Promise<Reply>;
}

export async function openOAuthCalls(url: string): Promise<OAuthCalls> {
  const contract = await Contract.load(url);
  const post: OAuthCalls['post'] = async (path, form, headers = {}) => {
    const reply = await postForm(url + path, form, headers);
    contract.check('POST', path, reply);
    return reply;
  };
  const token = (form: Form) => post('/oauth/token', { client_id: 'svc-cli', ...form });
  return {
    contract,
    post,
    get: (path, accessToken) =>
      contract.call('GET', path, { headers: { authorization: `Bearer ${accessToken}` } }),
    async signIn(sql, accountId, options = {}) {
      const { code, verifier, redirectUri } = await approveCode(sql, accountId, options);
      const reply = await token({
        client_id: options.client ?? 'svc-cli',
        ...codeForm({ code, verifier, redirectUri }),
      });
      assert.equal(reply.status, 200, reply.text);
      return tokensOf(reply);
    },
    refresh: (refresh_token, more = {}) =>
      token({ grant_type: 'refresh_token', refresh_token, ...more }),
    poll: (device_code, more = {}) => token({ grant_type: deviceGrant, device_code, ...more }),
  };
}

export function codeForm(approved: { code: string; verifier: string; redirectUri: string }): Form {
  return {
    grant_type: 'authorization_code',
    code: approved.code,
    redirect_uri: approved.redirectUri,
    code_verifier: approved.verifier,
  };
}

export function tokensOf(reply: Reply): Tokens {
  return reply.json as unknown as Tokens;
}

/** The error of a refusal, with its status. */
export function refusalOf({ status, json }: Reply): [number, unknown] {
  return [status, json.error];
}

/** Over a connection of its own: the kernel decides which shard takes it. */
export function postForm(
  url: string,
  form: Form | string,
  headers: Record<string, string> = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = {
      'content-type': 'application/x-www-form-urlencoded',
      connection: 'close',
      ...headers,
    };
    const asked = request(url, { method: 'POST', agent: false, headers: sent }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => {
        const pairs = Object.entries(response.headers).map(([name, value]) => [name, `${value}`]);
        const all = new Headers(pairs as [string, string][]);
        const json = JSON.parse(text === '' ? '{}' : text) as Reply['json'];
        resolve({ status: response.statusCode ?? 0, headers: all, text, json });
      });
      response.on('error', reject);
    });
    asked.on('error', reject);
    asked.end(typeof form === 'string' ? form : new URLSearchParams(form).toString());
  });
}

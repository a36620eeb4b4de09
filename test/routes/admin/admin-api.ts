// What the tests of the control plane share: an administrator's calls, checked against the
// documents, and reads that reach every shard.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { Contract, type Reply } from '../../harness/contract.ts';
import type { Testbed } from '../../harness/testbed.ts';

type Members = Record<string, unknown>;

export interface CallMembers {
  /** Default: the session of the development administrator. */
  session?: string;
  body?: unknown;
  ifMatch?: string;
}

export type AdminApi = (method: string, path: string, members?: CallMembers) => Promise<Reply>;

/** Calls `/api/admin` + path as an administrator. */
export async function openAdminApi(bed: Testbed): Promise<AdminApi> {
  const contract = await Contract.load(bed.url);
  return (method, path, { session, body, ifMatch } = {}) =>
    contract.call(method, `/api/admin${path}`, {
      headers: {
        'x-svc-session': session ?? bed.dev.admin_session_token,
        ...(ifMatch === undefined ? {} : { 'if-match': ifMatch }),
      },
      ...(body === undefined ? {} : { body }),
    });
}

/** Makes a record of the catalog, and returns it as it is shown. */
export async function makeRecord(
  adminApi: AdminApi,
  kind: string,
  body: Members,
): Promise<Members> {
  const reply = await adminApi('POST', `/${kind}`, { body });
  assert.equal(reply.status, 201, reply.text);
  return reply.json[kind.slice(0, -1)] as Members;
}

/** The error of a refusal: status, code, and where it is. */
export function refusal({ status, json }: Reply) {
  const { code, message, details } = (json.error ?? {}) as Members;
  return { status, code, message, details: (details ?? {}) as Members };
}

/** Every item of a list, page by page. */
export async function everything(
  adminApi: AdminApi,
  path: string,
  limit = 100,
): Promise<Members[]> {
  const items: Members[] = [];
  let cursor: string | null = null;
  do {
    const join = path.includes('?') ? '&' : '?';
    const more: string = cursor === null ? '' : `&cursor=${cursor}`;
    const page: Reply = await adminApi('GET', `${path}${join}limit=${limit}${more}`);
    assert.equal(page.status, 200, page.text);
    const data = page.json.data as Members[];
    assert.ok(data.length <= limit);
    items.push(...data);
    cursor = page.json.next_cursor as string | null;
  } while (cursor !== null);
  return items;
}

export interface FreshReply {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}

/** GET over a connection of its own: the kernel decides which shard takes it. */
export function freshGet(url: string, headers: Record<string, string> = {}): Promise<FreshReply> {
  return new Promise((resolve, reject) => {
    const options = { agent: false, headers: { ...headers, connection: 'close' } };
    const asked = request(url, options, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
      response.on('error', reject);
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** The same question over many connections at once: with 40 of them every shard is asked. */
export function askEverywhere(
  url: string,
  headers: Record<string, string> = {},
): Promise<FreshReply[]> {
  return Promise.all(Array.from({ length: 40 }, () => freshGet(url, headers)));
}

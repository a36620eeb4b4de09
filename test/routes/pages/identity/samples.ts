// Answers of the JSON routes as pages are tested and looked at with them.
import type { ApprovalData } from '../../../../routes/pages/identity/approval.ts';
import { type Answer, sessionOf, user } from './bench.ts';

type Client = ApprovalData['client'];

const minuteMs = 60_000;
const dayMs = 86_400_000;
const before = (ageMs: number) => new Date(Date.now() - ageMs).toISOString();

export const apps = {
  own: {
    id: 'svc-cli',
    display_name: 'Command line',
    host: null,
    first_party: true,
    verified: true,
  },
  partner: {
    id: 'partner',
    display_name: 'Partner Studio',
    host: null,
    first_party: false,
    verified: true,
  },
  unknown: {
    id: 'https://notes.example/client.json',
    display_name: 'Notes by Example',
    host: 'notes.example',
    first_party: false,
    verified: false,
  },
} satisfies Record<string, Client>;

export function approvalOf(
  client: Client,
  scopes: string[],
  kind: ApprovalData['redirect']['kind'],
  shown: string,
): ApprovalData {
  const { id, email, full_name } = user;
  const account = { id, email, full_name };
  return { request: 'sealed.request', client, scopes, account, redirect: { kind, shown } };
}

export function askedBy(client: Client, members: Record<string, unknown> = {}): Answer {
  const scopes = ['profile', 'email', 'app', 'offline_access'];
  const json = {
    ok: true,
    client,
    scopes,
    asked_at: before(2 * minuteMs + 1_000),
    network: '203.0.113.0/24',
    is_other_network: false,
    ...members,
  };
  return { json };
}

export const session = (ageMs = minuteMs): Answer => ({
  json: { ok: true, authenticated: true, user, session: sessionOf(ageMs) },
});

const agents = {
  firefox: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  phone: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1',
};

export const sessions = [
  { ...sessionOf(90 * minuteMs), user_agent: agents.firefox, network: null, current: true },
  {
    ...sessionOf(30 * dayMs),
    id: 'ses_000000000000000000000002',
    last_used_at: before(3 * 60 * minuteMs),
    user_agent: agents.phone,
    network: '2001:db8:12::/48',
    current: false,
  },
  {
    ...sessionOf(5 * dayMs),
    id: 'ses_000000000000000000000003',
    kind: 'app',
    method: 'password',
    last_used_at: before(2 * dayMs),
    user_agent: 'svc-desktop/1.4.2 (macOS)',
    network: '198.51.100.0/24',
    current: false,
  },
];

export const authorizations = [
  {
    client_id: 'svc-cli',
    display_name: 'Command line',
    scopes: ['profile', 'app', 'offline_access'],
    first_used_at: before(5 * dayMs),
    last_used_at: before(3 * minuteMs),
    api_keys: [
      { label: 'laptop', prefix: 'svc_live_a1b2c3d4' },
      { label: 'ci', prefix: 'svc_live_e5f6a7b8' },
    ],
  },
  {
    client_id: 'https://notes.example/client.json',
    display_name: 'notes.example',
    scopes: ['profile'],
    first_used_at: before(90 * dayMs),
    last_used_at: before(40 * dayMs),
    api_keys: [],
  },
];

export const listed = (data: readonly unknown[], next_cursor: string | null = null): Answer => ({
  json: { ok: true, data, next_cursor },
});

export const invitations = [
  {
    id: 'inv_019ab2c3d4e5f60718293a4b',
    organization_id: 123_456,
    organization_name: 'Acme GmbH',
    role: 'manager',
    created_at: before(3 * minuteMs),
    expires_at: before(-6 * dayMs),
  },
  {
    id: 'inv_019ab2c3d4e5f60718293a4c',
    organization_id: 234_567,
    organization_name: `Donaudampfschifffahrtsgesellschaft ${'M'.repeat(60)}`,
    role: 'member',
    created_at: before(2 * dayMs),
    expires_at: before(-5 * dayMs),
  },
];

// What apps tell of the person who is signed in, what they tell it, and what it has set for them.
import { deleting, jsonOf, type PersonalDomain } from './contract.ts';

export const appData: PersonalDomain = {
  file: 'apps',
  tables: {
    app_installations: { hold: 'exempt', exported: true, fate: 'erased' },
    app_activity: { hold: 'exempt', exported: true, fate: 'erased' },
    app_feedback: { hold: 'exempt', exported: true, fate: 'erased' },
    app_errors: {
      hold: 'exempt',
      exported: 'a group is of many, and names nobody',
      fate: { kept: 'a group is of many, and names nobody' },
    },
    app_error_samples: { hold: 'exempt', exported: true, fate: 'erased' },
    app_notices: {
      hold: 'exempt',
      exported: 'those of the account are exported with who they are for',
      fate: { kept: 'those of one account are gone within 90 days, and no row names it' },
    },
    app_notice_accounts: { hold: 'exempt', exported: true, fate: 'erased' },
    app_notice_reads: { hold: 'exempt', exported: true, fate: 'erased' },
  },
  lists: [
    {
      name: 'installations',
      from: 'app_installations i',
      where: 'i.account_id = $1',
      cursor: 'i.id',
      item: jsonOf('i', [
        ...['id', 'platform', 'app_version', 'channel', 'source', 'details'],
        ...['first_at', 'last_at'],
      ]),
    },
    {
      name: 'activity',
      from: 'app_activity a',
      where: 'a.account_id = $1',
      cursor: 'a.day::text',
      item: jsonOf('a', ['day', 'platform', 'app_version', 'source', 'count']),
    },
    {
      name: 'feedback',
      from: 'app_feedback f',
      where: 'f.account_id = $1',
      cursor: 'f.id',
      item: jsonOf('f', [
        ...['id', 'platform', 'app_version', 'category', 'rating', 'message', 'count'],
        ...['created_at', 'last_at', 'handled_at'],
      ]),
    },
    {
      name: 'errors',
      from: 'app_error_samples s',
      where: 's.account_id = $1',
      cursor: "(s.fingerprint || ' ' || s.place)",
      item: jsonOf('s', ['app_version', 'message', 'stack_trace', 'details', 'at']),
    },
    {
      name: 'notices',
      from: 'app_notice_accounts r JOIN app_notices n ON n.id = r.notice_id',
      where: 'r.account_id = $1',
      cursor: 'r.notice_id',
      item: jsonOf('n', ['id', 'title', 'body', 'level', 'action_url', 'created_at']),
    },
    {
      name: 'read_notices',
      from: 'app_notice_reads d',
      where: 'd.account_id = $1',
      cursor: 'd.notice_id',
      item: jsonOf('d', ['notice_id', 'read_at']),
    },
  ],
  erasing: [
    deleting('app_installations', 'id'),
    `WITH page AS (
        SELECT t.day, t.day::text AS cursor FROM app_activity t
        WHERE t.account_id = $1 AND t.day::text > $2 ORDER BY t.day LIMIT $3 FOR UPDATE),
      gone AS (DELETE FROM app_activity t USING page p WHERE t.account_id = $1 AND t.day = p.day)
      SELECT cursor, NULL::text AS blob_id FROM page ORDER BY cursor`,
    deleting('app_feedback', 'id'),
    `WITH page AS (
        SELECT t.fingerprint, t.place, t.fingerprint || ' ' || t.place AS cursor
        FROM app_error_samples t
        WHERE t.account_id = $1 AND t.fingerprint || ' ' || t.place > $2
        ORDER BY cursor LIMIT $3 FOR UPDATE),
      gone AS (
        DELETE FROM app_error_samples t USING page p
        WHERE t.fingerprint = p.fingerprint AND t.place = p.place)
      SELECT cursor, NULL::text AS blob_id FROM page ORDER BY cursor`,
    deleting('app_notice_reads', 'notice_id'),
    deleting('app_notice_accounts', 'notice_id'),
  ],
};

export const preferenceData: PersonalDomain = {
  file: 'preferences',
  tables: {
    ai_preferences: { hold: 'exempt', exported: true, fate: 'erased' },
    mcp_servers: { hold: 'exempt', exported: true, fate: 'erased' },
  },
  lists: [
    {
      name: 'models',
      from: 'ai_preferences p',
      where: 'p.account_id = $1',
      cursor: 'p.account_id',
      item: jsonOf('p', ['default_model', 'modes', 'updated_at']),
    },
    {
      name: 'mcp_servers',
      from: 'mcp_servers m',
      where: 'm.account_id = $1',
      cursor: 'm.id',
      item: jsonOf('m', [
        ...['id', 'name', 'slug', 'url', 'enabled', 'trusted', 'allow_after_reading'],
        ...['allowed_tools', 'auth', 'state', 'checked_at', 'created_at', 'updated_at'],
      ]),
    },
  ],
  erasing: [deleting('ai_preferences', 'account_id'), deleting('mcp_servers', 'id')],
};

// What people asked models for, and what they were answered.
import { jsonOf, type PersonalDomain } from './contract.ts';

const books = 'the row says what was charged, and for how much of what';

export const generationData: PersonalDomain = {
  file: 'generations',
  tables: { generations: { hold: 'held', exported: true, fate: { blanked: books } } },
  lists: [
    {
      name: 'generations',
      from: 'generations g',
      where: 'g.account_id = $1',
      cursor: 'g.id',
      weight: 'coalesce(octet_length(g.answer), 0) + coalesce(octet_length(g.problem), 0)',
      item: jsonOf(
        'g',
        [
          ...['id', 'api_key_id', 'route', 'idempotency_key', 'model', 'status', 'created_at'],
          ...['finished_at', 'routing', 'charge_micros'],
        ],
        {
          // Who served a query is the operator's. Its reply is sealed, and gone in a day.
          usage: "g.usage - 'query'",
          answer: "CASE WHEN g.route <> '/api/v1/query' THEN g.answer::json END",
          problem: 'g.problem::json',
        },
      ),
    },
  ],
  erasing: [
    `WITH page AS (
        SELECT g.id, CASE WHEN g.route = '/v1/audio/speech' AND g.answer::json ->> 'file'
          LIKE 'blob\\_%' THEN g.answer::json ->> 'file' END AS blob_id
        FROM generations g
        WHERE g.account_id = $1 AND g.id > $2 ORDER BY g.id LIMIT $3 FOR UPDATE),
      blanked AS (
        UPDATE generations g SET answer = NULL, problem = NULL, routing = NULL,
          idempotency_key = NULL, fingerprint = ''
        FROM page p
        WHERE g.id = p.id AND (g.answer IS NOT NULL OR g.problem IS NOT NULL
          OR g.routing IS NOT NULL OR g.idempotency_key IS NOT NULL OR g.fingerprint <> ''))
      SELECT id AS cursor, blob_id FROM page ORDER BY id`,
  ],
};

/** What declares tools may hold credentials of the client's own servers: it is left out. */
export const responseData: PersonalDomain = {
  file: 'responses',
  tables: { responses: { hold: 'held', exported: true, fate: 'erased' } },
  lists: [
    {
      name: 'responses',
      from: 'responses r',
      where: 'r.account_id = $1 AND r.deleted_at IS NULL',
      cursor: 'r.generation_id',
      weight: 'r.input_bytes + octet_length(r.request)',
      item: jsonOf('r', ['generation_id', 'previous_id', 'background', 'created_at'], {
        model: "r.request::json -> 'model'",
        instructions: "r.request::json -> 'instructions'",
        metadata: "r.request::json -> 'metadata'",
        input: 'r.input::json',
        kept_until: 'r.expires_at',
      }),
    },
  ],
  erasing: [
    `WITH page AS (
        SELECT r.generation_id AS cursor FROM responses r
        WHERE r.account_id = $1 AND r.generation_id > $2
        ORDER BY r.generation_id LIMIT $3 FOR UPDATE),
      gone AS (DELETE FROM responses r USING page p WHERE r.generation_id = p.cursor)
      SELECT cursor, NULL::text AS blob_id FROM page ORDER BY cursor`,
  ],
};

/** A conversation and a route in one text: no id of either has this character. */
const conversationCursor = 'c.conversation_id || chr(1) || c.route';

export const conversationData: PersonalDomain = {
  file: 'conversations',
  tables: { conversations: { hold: 'exempt', exported: true, fate: 'erased' } },
  lists: [
    {
      name: 'conversations',
      from: 'conversations c',
      where: 'c.account_id = $1',
      cursor: conversationCursor,
      item: jsonOf('c', ['conversation_id', 'route', 'model', 'updated_at']),
    },
  ],
  erasing: [
    `WITH page AS (
        SELECT c.conversation_id, c.route, ${conversationCursor} AS cursor FROM conversations c
        WHERE c.account_id = $1 AND $2::text IS NOT NULL
        ORDER BY c.conversation_id, c.route LIMIT $3 FOR UPDATE),
      gone AS (
        DELETE FROM conversations c USING page p
        WHERE c.account_id = $1 AND c.conversation_id = p.conversation_id AND c.route = p.route)
      SELECT cursor, NULL::text AS blob_id FROM page`,
  ],
};

// GET /v1/responses/{response_id}/input_items: what the client sent in this turn, a page at a time.
import * as v from 'valibot';
import { withDeadline } from '../../db/driver/sql.ts';
import { findResponseInput } from '../../db/responses.ts';
import { maxCharacters } from '../../runtime/http/text.ts';
import { fieldProblem } from '../../runtime/http/validate.ts';
import { defineRoute } from '../define.ts';
import { responseParams } from './get-response.ts';
import { type Item, listedItem } from './items.ts';
import { requireResponse } from './stored.ts';

const listSchema = v.strictObject({
  object: v.literal('list'),
  data: v.array(v.looseObject({ id: v.string(), type: v.string() })),
  first_id: v.nullable(v.string()),
  last_id: v.nullable(v.string()),
  has_more: v.boolean(),
});

export const listInputItems = defineRoute({
  method: 'GET',
  path: '/v1/responses/{response_id}/input_items',
  aliases: ['/api/v1/responses/{response_id}/input_items'],
  operationId: 'listInputItems',
  summary: 'List the input items of a stored response',
  description:
    'The items of this request alone, newest first unless `order` is `asc`. Those of the ' +
    'responses that it continues are listed by their own ids.',
  tag: 'Generation',
  documents: ['model'],
  access: { kind: 'key', scope: 'models:generate', isUncounted: true },
  cors: 'public',
  params: responseParams,
  query: v.object({
    limit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100))),
    order: v.optional(v.picklist(['asc', 'desc'])),
    after: v.optional(v.pipe(v.string(), maxCharacters(256))),
  }),
  replies: { 200: { description: 'A page of items.', schema: listSchema } },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params, query, caller, services }) {
    const { generation } = await requireResponse(services, caller, params.response_id);
    const { accountId, id } = generation;
    const json = await withDeadline(findResponseInput(services.sql, accountId, id));
    const items = (JSON.parse(json ?? '[]') as Item[]).map((item, index) =>
      listedItem(id, item, index),
    );
    if (query.order !== 'asc') items.reverse();
    const { after } = query;
    const place = after === undefined ? -1 : items.findIndex((item) => item.id === after);
    if (after !== undefined && place < 0) throw fieldProblem('after', 'There is no such item.');
    const limit = query.limit ?? 20;
    const data = items.slice(place + 1, place + 1 + limit);
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: {
        object: 'list',
        data,
        first_id: data[0]?.id ?? null,
        last_id: data.at(-1)?.id ?? null,
        has_more: place + 1 + limit < items.length,
      },
    };
  },
});

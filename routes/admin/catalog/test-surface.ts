// POST /api/admin/surfaces/{name}/test: each provider of a surface asked once. What they answer is
// counted, and never repeated; the audit event does not say what was asked.
import * as v from 'valibot';
import { readAsk } from '../../../actors/search/canary/ask.ts';
import type { ProbedTarget } from '../../../actors/search/probing.ts';
import { insertAuditEvent } from '../../../db/audit-events.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { fieldProblem } from '../../../runtime/http/validate.ts';
import { newAuditId } from '../../../runtime/ids.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { jsonBody, nameParams } from './members.ts';

const problems = ['refused', 'busy', 'exhausted', 'credential', 'failed', 'timeout'] as const;
const states = ['found', 'partial', 'empty', 'busy', 'failed'] as const;

const targetSchema = v.strictObject({
  provider: v.string(),
  state: v.picklist(states),
  ms: v.number(),
  items: v.number(),
  problem: v.nullable(v.picklist(problems)),
});

export const testSurface = defineRoute({
  method: 'POST',
  path: '/api/admin/surfaces/{name}/test',
  operationId: 'testAdminSurface',
  summary: 'Ask each provider of a surface once, to see whether it works',
  description:
    'Nobody pays for it, and nothing of it is kept. Works on disabled surfaces and providers, ' +
    'too. `items` says how many results were found. `problem` tells why there are none: ' +
    '`refused` (the request), `busy`, `exhausted` (no credit there), `credential` (refused, or ' +
    'the provider gives no JSON), `failed` or `timeout`.',
  tag: 'Catalog administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: nameParams,
  body: jsonBody(
    v.strictObject({
      query: v.string(),
      params: v.optional(v.record(v.string(), v.unknown())),
    }),
  ),
  replies: {
    200: {
      description: 'What came of it at each of them, in their order.',
      schema: v.strictObject({ ok: v.literal(true), targets: v.array(targetSchema) }),
    },
  },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params, body, caller, services, exchange }) {
    const { name } = params;
    const answer = await services.catalog.actor().ask('surface', name, 5_000);
    if (!answer.ok || answer.value.status === 'unavailable') {
      throw new Problem('dependency_unavailable');
    }
    const surface = answer.value.status === 'found' ? answer.value.surface : null;
    const { query, params: parameters = {} } = body;
    const read = surface === null ? null : readAsk(surface, query, parameters);
    // What is only displayed has nobody to be asked.
    if (surface === null || read === null) throw new Problem('not_found', { param: 'name' });
    if (!read.ok) throw fieldProblem(read.path, read.message);
    const leaving = new AbortController();
    exchange.onAbort(() => leaving.abort());
    const probed = await services.search.probe(surface, read.ask, leaving.signal);
    const targets = probed.map(targetBody);
    const event = {
      id: newAuditId(services.system.node),
      accountId: null,
      actor: caller.accountId,
      action: 'surface.test',
      subject: `surface:${name}`,
      details: { targets },
    };
    await withDeadline(insertAuditEvent(services.sql, event));
    return { status: 200, headers: { 'cache-control': 'no-store' }, json: { ok: true, targets } };
  },
});

type Target = v.InferOutput<typeof targetSchema>;

function targetBody({ routeId, state, ms, items }: ProbedTarget): Target {
  const provider = routeId.slice(0, routeId.indexOf('/'));
  if (state === 'found' || state === 'partial' || state === 'empty') {
    return { provider, state, ms, items, problem: null };
  }
  const problem = state === 'aborted' ? 'timeout' : state;
  return { provider, state: state === 'busy' ? 'busy' : 'failed', ms, items, problem };
}

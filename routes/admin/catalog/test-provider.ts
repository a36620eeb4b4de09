// POST /api/admin/providers/{name}/test: one real call, as small as calls get. What the provider
// says is never repeated: it may hold the credential that it refused.
import * as v from 'valibot';
import { monitorLimits } from '../../../actors/monitor/limits.ts';
import { insertAuditEvent } from '../../../db/audit-events.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { probeTarget } from '../../../media/providers/generation/probe.ts';
import { visibleAscii } from '../../../runtime/http/text.ts';
import { newAuditId } from '../../../runtime/ids.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { jsonBody, nameParams } from './members.ts';

const resultSchema = v.strictObject({
  ok: v.boolean(),
  call: v.picklist(['generation', 'models']),
  upstream_model: v.nullable(v.string()),
  latency_ms: v.number(),
  failure: v.nullable(
    v.picklist([
      'unreachable',
      'timeout',
      'credential',
      'model',
      'busy',
      'unpaid',
      'rejected',
      'failed',
    ]),
  ),
});

export const testProvider = defineRoute({
  method: 'POST',
  path: '/api/admin/providers/{name}/test',
  operationId: 'testAdminProvider',
  summary: 'Call a provider once, to see whether it works',
  description:
    'Asks for a few tokens from `upstream_model`, else from a model that the catalog has there; ' +
    'where it has none, only for the list of models. Takes at most 15 s. Works on disabled ' +
    'providers too, and tells why not: `unreachable`, `timeout`, `credential` (refused), `model` ' +
    '(not there), `busy`, `unpaid` (no credit there), `rejected` or `failed`.',
  tag: 'Catalog administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: nameParams,
  body: jsonBody(
    v.optional(
      v.strictObject({
        upstream_model: v.optional(visibleAscii(200)),
      }),
    ),
  ),
  replies: {
    200: {
      description: 'What came of it, good or bad.',
      schema: v.strictObject({ ok: v.literal(true), test: resultSchema }),
    },
  },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params, body, caller, services }) {
    const { name } = params;
    const upstreamModel = body?.upstream_model ?? null;
    const asked = { provider: name, upstreamModel };
    const answer = await services.catalog.actor().ask('target', asked, 5_000);
    if (!answer.ok || answer.value.status === 'unavailable') {
      throw new Problem('dependency_unavailable');
    }
    if (answer.value.status === 'not_found') throw new Problem('not_found', { param: 'name' });
    const { target, hasModel } = answer.value.found;
    const { failure, latencyMs } = hasModel
      ? await services.catalog.tryProvider(target)
      : await probeTarget(target, monitorLimits.probeTimeoutMs);
    const test = {
      ok: failure === null,
      call: hasModel ? 'generation' : 'models',
      upstream_model: hasModel ? target.upstreamModel : null,
      latency_ms: latencyMs,
      failure,
    };
    const event = {
      id: newAuditId(services.system.node),
      accountId: null,
      actor: caller.accountId,
      action: 'provider.test',
      subject: `provider:${name}`,
      details: test,
    };
    await withDeadline(insertAuditEvent(services.sql, event));
    return { status: 200, headers: { 'cache-control': 'no-store' }, json: { ok: true, test } };
  },
});

// POST /api/admin/payment-providers/{name}/test: one call that costs nothing. What the provider
// says is never repeated: it may hold the key that it refused.
import * as v from 'valibot';
import { paymentProvider } from '../../../actors/catalog/payments/provider.ts';
import { insertAuditEvent } from '../../../db/audit-events.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { PaymentFault } from '../../../media/payments/contract.ts';
import { newAuditId } from '../../../runtime/ids.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { nameParams } from './members.ts';
import { paymentProviders } from './payment-resources.ts';

const testMs = 10_000;

const failures = {
  unknown: 'unreachable',
  refused: 'rejected',
  misconfigured: 'credential',
  not_found: 'rejected',
  slow_down: 'busy',
} as const satisfies Record<PaymentFault['kind'], string>;

const resultSchema = v.strictObject({
  ok: v.boolean(),
  latency_ms: v.number(),
  failure: v.nullable(v.picklist(['unreachable', 'rejected', 'credential', 'busy'])),
});

export const testPaymentProvider = defineRoute({
  method: 'POST',
  path: `${paymentProviders.path}/{name}/test`,
  operationId: 'testAdminPaymentProvider',
  summary: 'Call a payment provider once, to see whether its key is good',
  description:
    'Asks for something that costs nothing, for at most 10 s. Works on disabled providers too, ' +
    'and tells why not: `unreachable` (also when it fails), `credential` (refused), `busy` or ' +
    '`rejected`. Whether webhooks arrive is seen at the provider.',
  tag: 'Catalog administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: nameParams,
  replies: {
    200: {
      description: 'What came of it, good or bad.',
      schema: v.strictObject({ ok: v.literal(true), test: resultSchema }),
    },
  },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const provider = paymentProvider(services.catalog.current(), params.name);
    if (provider === null) throw new Problem('not_found', { param: 'name' });
    const startedAt = performance.now();
    const failure = await failureOf(provider);
    const latencyMs = Math.round(performance.now() - startedAt);
    const test = { ok: failure === null, latency_ms: latencyMs, failure };
    const event = {
      id: newAuditId(services.system.node),
      accountId: null,
      actor: caller.accountId,
      action: 'payment_provider.test',
      subject: `payment_provider:${params.name}`,
      details: test,
    };
    await withDeadline(insertAuditEvent(services.sql, event));
    return { status: 200, headers: { 'cache-control': 'no-store' }, json: { ok: true, test } };
  },
});

async function failureOf(provider: NonNullable<ReturnType<typeof paymentProvider>>) {
  const { adapter, account } = provider;
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), testMs);
  try {
    await adapter.test(account, controller.signal);
    return null;
  } catch (error) {
    if (!(error instanceof PaymentFault)) throw error;
    return failures[error.kind];
  } finally {
    clearTimeout(timer);
  }
}

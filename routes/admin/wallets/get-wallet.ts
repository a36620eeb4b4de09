// GET /api/admin/wallets/{wallet_id}: what it has, of which grants, and what is reserved.
import * as v from 'valibot';
import { readWalletState } from '../../../db/billing.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { Problem } from '../../../runtime/problem.ts';
import { grantBody, reservationBody } from '../../billing/amounts.ts';
import { grantSchema, reservationSchema } from '../../billing/schema.ts';
import { defineRoute } from '../../define.ts';
import { adminWalletBody, walletParams, walletSchema } from './schema.ts';

export const getWallet = defineRoute({
  method: 'GET',
  path: '/api/admin/wallets/{wallet_id}',
  operationId: 'getWallet',
  summary: 'Read a wallet with its grants and reservations',
  description:
    '`balance = available + held`. Grants that are not spent, in spending order; the newest 100 ' +
    'active reservations.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: walletParams,
  replies: {
    200: {
      description: 'The wallet.',
      schema: v.strictObject({
        ok: v.literal(true),
        wallet: walletSchema,
        grants: v.array(grantSchema),
        reservations: v.array(reservationSchema),
      }),
    },
  },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params, services }) {
    const state = await withDeadline(readWalletState(services.sql, params.wallet_id));
    if (state === null) throw new Problem('not_found', { param: 'wallet_id' });
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      json: {
        ok: true,
        wallet: adminWalletBody(state.wallet),
        grants: state.grants.map(grantBody),
        reservations: state.active.map(reservationBody),
      },
    };
  },
});

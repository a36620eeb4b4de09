// POST /api/admin/users: a new account with an empty wallet. It has no credential yet: give it a
// key, or let it sign in.
import * as v from 'valibot';
import { createPerson, renamePerson } from '../../../db/accounts/person.ts';
import { createAccount, findAccount } from '../../../db/accounts.ts';
import { audited } from '../../../db/audit-events.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { createWallet } from '../../../db/wallets.ts';
import { newAuditId, newId } from '../../../runtime/ids.ts';
import { fixedLimits } from '../../../runtime/limits.ts';
import { defineRoute } from '../../define.ts';
import {
  accountLabel,
  addressTaken,
  addressText,
  fullName,
  readAddress,
  userAnswer,
  userReply,
} from './schema.ts';

export const createUser = defineRoute({
  method: 'POST',
  path: '/api/admin/users',
  operationId: 'createUser',
  summary: 'Add an account with an empty wallet',
  description:
    '`label` says whom it is for, to administrators alone. An account with `email` owns the ' +
    'address: the first right code enters it. 409 `conflict` if it belongs to another account.',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  body: {
    kind: 'json',
    bytesMax: fixedLimits.body.jsonBytesMax,
    example: { label: 'Acme GmbH' },
    schema: v.strictObject({
      role: v.optional(v.picklist(['user', 'admin']), 'user'),
      label: v.optional(accountLabel, null),
      email: v.optional(addressText),
      full_name: v.optional(fullName, null),
    }),
  },
  replies: { 201: userReply[200] },
  problems: ['conflict', 'dependency_unavailable'],
  async handle({ body, caller, services }) {
    const { role, label, full_name: name } = body;
    const email = body.email === undefined ? null : readAddress(body.email);
    const { node } = services.system;
    const actor = caller.accountId;
    const id = newId('acc', node);
    const walletId = newId('wal', node);
    const made = audited(services.sql, async (transaction) => {
      if (email === null) {
        await createAccount(transaction, { id, role, label });
        await createWallet(transaction, { id: walletId, accountId: id, type: 'personal' });
        if (name !== null) await renamePerson(transaction, id, name);
      } else {
        const person = {
          id,
          walletId,
          role,
          label,
          email,
          address: 'given',
          fullName: name,
        } as const;
        if (!(await createPerson(transaction, person))) return { result: null, event: null };
      }
      const event = {
        id: newAuditId(node),
        accountId: id,
        actor,
        action: 'account.create',
        subject: `account:${id}`,
        details: { role, label, has_address: email !== null, wallet_id: walletId },
      };
      return { result: await findAccount(transaction, id), event };
    });
    const account = await withDeadline(made);
    if (account === null) throw addressTaken();
    return userAnswer(account, 201);
  },
});

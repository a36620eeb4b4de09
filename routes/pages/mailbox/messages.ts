// GET and DELETE /dev/mailbox/messages: what development mode would have sent, newest first.
import * as v from 'valibot';
import { parseAddress } from '../../../actors/identity/address.ts';
import { lineOfText } from '../../../runtime/http/text.ts';
import { Problem } from '../../../runtime/problem.ts';
import { defineRoute } from '../../define.ts';
import { mailboxProblems, requireMailbox } from './require-mailbox.ts';

const common = {
  path: '/dev/mailbox/messages',
  tag: 'pages',
  documents: [],
  access: { kind: 'none' as const },
  cors: 'none' as const,
};
const headers = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** Longer than any address, and none of them is refused for its form: it only finds nothing. */
const charactersMax = 400;

export const listMailboxMessages = defineRoute({
  ...common,
  method: 'GET',
  operationId: 'listMailboxMessages',
  summary: 'Mails of development mode, of one address or of all',
  query: v.object({ to: v.optional(lineOfText(charactersMax)) }),
  replies: { 200: { description: 'The mails.', mediaType: 'application/json' } },
  problems: [...mailboxProblems, 'dependency_unavailable'],
  async handle({ exchange, query, services }) {
    const mailbox = requireMailbox(exchange, services);
    const { to = null } = query;
    const data = await mailbox.list(to === null ? null : (parseAddress(to) ?? to));
    if (data === null) throw new Problem('dependency_unavailable');
    return { status: 200, headers, json: { ok: true, data } };
  },
});

export const clearMailbox = defineRoute({
  ...common,
  method: 'DELETE',
  operationId: 'clearMailbox',
  summary: 'Empty the mailbox of development mode',
  replies: { 200: { description: 'It is empty.', mediaType: 'application/json' } },
  problems: [...mailboxProblems, 'dependency_unavailable'],
  async handle({ exchange, services }) {
    const mailbox = requireMailbox(exchange, services);
    if (!(await mailbox.clear())) throw new Problem('dependency_unavailable');
    return { status: 200, headers, json: { ok: true } };
  },
});

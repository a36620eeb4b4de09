// GET /api/admin/errors/{fingerprint}: one group, with its first and last error.
import { defineRoute } from '../../define.ts';
import { errorAnswer, errorParams, errorReply } from './error-schema.ts';

export const getAppError = defineRoute({
  method: 'GET',
  path: '/api/admin/errors/{fingerprint}',
  operationId: 'getAppError',
  summary: 'Read a group of errors',
  tag: 'Administration',
  documents: ['account'],
  access: { kind: 'admin' },
  cors: 'web',
  params: errorParams,
  replies: errorReply,
  problems: ['not_found', 'dependency_unavailable'],
  handle: ({ params, services }) => errorAnswer(services, params.fingerprint),
});

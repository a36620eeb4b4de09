// POST /api/admin/{kind}/{name}/disable and /enable: out of the public catalog, and back.
import { type AppRoute, defineRoute } from '../../define.ts';
import { revisionAdvice, revisionBody, revisionHeader } from '../revision.ts';
import { changeRecord } from './change-record.ts';
import { changedAdvice } from './declaration.ts';
import { nameParams } from './members.ts';
import { recordAnswer, recordReply } from './record.ts';
import type { Resource } from './resource.ts';

export function switchRoute(resource: Resource, verb: 'disable' | 'enable'): AppRoute {
  const word = verb === 'disable' ? 'Disable' : 'Enable';
  return defineRoute({
    method: 'POST',
    path: `${resource.path}/{name}/${verb}`,
    operationId: `${verb}Admin${resource.title}`,
    summary: `${word} ${resource.noun} of the catalog`,
    description:
      `${resource.switching} Doing it twice changes nothing. ` +
      `${revisionAdvice} ${changedAdvice}`,
    tag: 'Catalog administration',
    documents: ['account'],
    access: { kind: 'admin' },
    cors: 'web',
    headers: revisionHeader,
    params: nameParams,
    body: revisionBody,
    replies: { 200: recordReply(resource, 'The record as it is now.') },
    problems: ['not_found', 'conflict', 'dependency_unavailable'],
    async handle({ params, body, caller, services, exchange }) {
      const call = { services, caller, exchange, body };
      const reply = await changeRecord(resource, params.name, { verb }, call);
      return recordAnswer(200, resource, reply.record, reply.contentVersion, services);
    },
  });
}

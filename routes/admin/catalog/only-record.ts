// GET and PUT of the only record of a kind: all its settings at once. Its name is in no address.
import * as v from 'valibot';
import { kindsOfRecords } from '../../../actors/catalog/kinds.ts';
import { findRecord } from '../../../db/catalog.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { Problem } from '../../../runtime/problem.ts';
import { type AppRoute, defineRoute } from '../../define.ts';
import { revisionAdvice, revisionHeader, revisionSchema } from '../revision.ts';
import { changeRecord } from './change-record.ts';
import { changedAdvice } from './declaration.ts';
import { type Entries, jsonBody } from './members.ts';
import { recordAnswer, recordReply } from './record.ts';
import type { Resource } from './resource.ts';

/** Reads the settings, with their revision as the ETag. */
export function getOnlyRecord(resource: Resource): AppRoute {
  const { kind } = resource;
  const name = nameOf(resource);
  return defineRoute({
    method: 'GET',
    path: resource.path,
    operationId: `getAdmin${resource.title}`,
    summary: `Read ${resource.noun}`,
    description: resource.description,
    tag: 'Catalog administration',
    documents: ['account'],
    access: { kind: 'admin' },
    cors: 'web',
    replies: { 200: recordReply(resource, 'The settings.') },
    problems: ['not_found', 'dependency_unavailable'],
    async handle({ services }) {
      const record = await withDeadline(findRecord(services.sql, kind, name));
      if (record === null) throw new Problem('not_found');
      const { contentVersion } = services.catalog.current().snapshot;
      return recordAnswer(200, resource, record, contentVersion, services);
    },
  });
}

/**
 * Writes the settings; every shard has them when this is answered. `entries` are the members with
 * the defaults that absent members get.
 */
export function putOnlyRecord(resource: Resource, entries: Entries): AppRoute {
  const name = nameOf(resource);
  return defineRoute({
    method: 'PUT',
    path: resource.path,
    operationId: `putAdmin${resource.title}`,
    summary: `Write ${resource.noun}`,
    description:
      `A member that is absent gets its default. ${revisionAdvice} ${changedAdvice} ` +
      resource.description,
    tag: 'Catalog administration',
    documents: ['account'],
    access: { kind: 'admin' },
    cors: 'web',
    headers: revisionHeader,
    body: jsonBody(v.strictObject({ ...entries, revision: v.optional(revisionSchema) })),
    replies: { 200: recordReply(resource, 'The settings as they are now.') },
    problems: ['not_found', 'conflict', 'dependency_unavailable'],
    async handle({ body, caller, services, exchange }) {
      const { revision, ...patch } = body;
      const call = { services, caller, exchange, body: { revision } };
      const reply = await changeRecord(resource, name, { verb: 'update', patch }, call);
      return recordAnswer(200, resource, reply.record, reply.contentVersion, services);
    },
  });
}

function nameOf({ kind }: Resource): string {
  const { onlyName } = kindsOfRecords[kind];
  if (onlyName === undefined) throw new TypeError(`There are many records of ${kind}`);
  return onlyName;
}

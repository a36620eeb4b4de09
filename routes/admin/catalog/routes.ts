// The routes of every kind of catalog record: one set, made from the table of resources.
import { kindsOfRecords } from '../../../actors/catalog/kinds.ts';
import type { AppRoute } from '../../define.ts';
import { createRoute } from './create-record.ts';
import { deleteRoute } from './delete-record.ts';
import { getRoute } from './get-record.ts';
import { listRoute } from './list-records.ts';
import { resources } from './resources.ts';
import { switchRoute } from './switch-record.ts';
import { updateRoute } from './update-record.ts';

export const catalogRoutes: readonly AppRoute[] = resources.flatMap((resource) => {
  const canBeDisabled = kindsOfRecords[resource.kind].enabledMember !== null;
  return [
    listRoute(resource),
    createRoute(resource),
    getRoute(resource),
    updateRoute(resource),
    ...(canBeDisabled ? [switchRoute(resource, 'disable'), switchRoute(resource, 'enable')] : []),
    deleteRoute(resource),
  ];
});

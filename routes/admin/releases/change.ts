// Writes a release: every shard tells it when this is answered.
import {
  deleteRelease,
  findRelease,
  type NewRelease,
  putRelease,
  type Release,
} from '../../../db/app/releases.ts';
import { newId } from '../../../runtime/ids.ts';
import { Problem } from '../../../runtime/problem.ts';
import type { Services } from '../../services.ts';
import { adminEvent, applyBoardChange } from '../board-change.ts';
import { staleProblem } from '../revision.ts';
import { adminReleaseBody, type ReleasePatch } from './schema.ts';
import { writtenRelease } from './written.ts';

type Needed = Pick<Services, 'sql' | 'bus' | 'system' | 'config'>;
type Reading = Parameters<typeof findRelease>[0];

/** @throws Problem conflict, invalid_request, invalid_state */
export function createReleaseRecord(
  services: Needed,
  actor: string,
  wanted: ReleasePatch,
): Promise<Release> {
  const id = newId('rel', services.system.node);
  return writeRelease(services, actor, 'create', id, null, () =>
    writtenRelease(id, wanted, null, Date.now()),
  );
}

/** `after` says what becomes of the one that is stored. @throws Problem */
export function updateReleaseRecord(
  services: Needed,
  actor: string,
  id: string,
  revision: number | null,
  after: (before: Release) => NewRelease,
): Promise<Release> {
  return writeRelease(services, actor, 'update', id, revision, (before) => {
    if (before === null) throw new Problem('not_found', { param: 'release_id' });
    return after(before);
  });
}

async function writeRelease(
  services: Needed,
  actor: string,
  verb: 'create' | 'update',
  id: string,
  revision: number | null,
  after: (before: Release | null) => NewRelease,
): Promise<Release> {
  const { baseUrl } = services.config;
  return applyBoardChange(services, async (transaction) => {
    const before = await findRelease(transaction, id);
    requireRevision(before, revision);
    if (!(await putRelease(transaction, after(before)))) {
      const message = 'There is a release of this version for this browser and channel.';
      throw new Problem('conflict', { message });
    }
    const result = await findRelease(transaction, id);
    if (result === null) throw new Error('it was written in this transaction');
    const details = {
      ...(before === null ? {} : { before: adminReleaseBody(before, baseUrl) }),
      after: adminReleaseBody(result, baseUrl),
    };
    const event = adminEvent(services, actor, `release.${verb}`, `release:${id}`, details);
    return { result, event };
  });
}

/** As it was. @throws Problem not_found, conflict */
export function deleteReleaseRecord(
  services: Needed,
  actor: string,
  id: string,
  revision: number | null,
): Promise<Release> {
  return applyBoardChange(services, async (transaction) => {
    const result = await requireRelease(transaction, id);
    requireRevision(result, revision);
    await deleteRelease(transaction, id);
    const details = { before: adminReleaseBody(result, services.config.baseUrl) };
    const event = adminEvent(services, actor, 'release.delete', `release:${id}`, details);
    return { result, event };
  });
}

/** @throws Problem not_found */
export async function requireRelease(sql: Reading, id: string): Promise<Release> {
  const release = await findRelease(sql, id);
  if (release === null) throw new Problem('not_found', { param: 'release_id' });
  return release;
}

function requireRevision(release: Release | null, revision: number | null): void {
  if (release === null || revision === null || revision === release.revision) return;
  throw staleProblem(release.revision);
}

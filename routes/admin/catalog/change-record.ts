// How a route changes a record: it asks the catalog, which says why not in its own terms.
import type { CatalogAction, CatalogReply } from '../../../actors/catalog/change.ts';
import type { Exchange } from '../../../runtime/http/route.ts';
import { fieldProblem } from '../../../runtime/http/validate.ts';
import { Problem } from '../../../runtime/problem.ts';
import { clientChangeId, tellChange } from '../../credentials.ts';
import type { Services, UserCaller } from '../../services.ts';
import { expectedRevision, staleProblem } from '../revision.ts';
import type { Resource } from './resource.ts';

const changeTimeoutMs = 10_000;

/** What a route asks of the catalog. */
export interface ChangeCall {
  services: Pick<Services, 'sql' | 'catalog' | 'bus'>;
  caller: UserCaller;
  exchange: Exchange;
  body?: { revision?: number | undefined } | undefined;
}

/**
 * Makes a change; every shard has the new catalog when this resolves.
 * @throws Problem not_found, conflict, invalid_request, invalid_state, dependency_unavailable
 */
export async function changeRecord(
  { kind }: Resource,
  name: string,
  action: CatalogAction,
  { services, caller, exchange, body }: ChangeCall,
): Promise<CatalogReply & { status: 'changed' | 'unchanged' }> {
  const change = {
    actor: caller.accountId,
    kind,
    name,
    revision: action.verb === 'create' ? null : expectedRevision(exchange, body),
    action,
  };
  const answer = await services.catalog.actor().ask('change', change, changeTimeoutMs);
  if (!answer.ok) throw new Problem('dependency_unavailable');
  const reply = answer.value;
  switch (reply.status) {
    case 'changed':
    case 'unchanged':
      if (kind === 'oauth_clients') await tellOfClient(name, reply.endedKeys, services);
      return reply;
    case 'public':
      throw new Problem('invalid_state', { message: 'A public client has no secret.' });
    case 'unavailable':
      throw new Problem('dependency_unavailable');
    case 'not_found':
      throw new Problem('not_found', { param: 'name' });
    case 'stale':
      throw staleProblem(reply.revision);
    case 'exists':
      throw new Problem('conflict', {
        message: 'There is a record of this name.',
        details: { revision: reply.revision },
      });
    case 'taken':
      throw new Problem('conflict', { message: `The name is taken by ${reply.by}.` });
    case 'in_use':
      throw new Problem('conflict', {
        message: `It is needed by ${reply.by.join(', ')}.`,
        details: { needed_by: reply.by },
      });
    case 'invalid':
      throw fieldProblem(reply.path, reply.message);
  }
}

/** What a client was let do ends with it, its voice sessions too; a disabled one's rests. */
async function tellOfClient(
  name: string,
  endedKeys: readonly string[],
  { catalog, bus }: Pick<Services, 'catalog' | 'bus'>,
): Promise<void> {
  if (catalog.current().clients.get(name)?.enabled === true) return;
  await tellChange(bus, [clientChangeId(name), ...endedKeys], { isWithdrawn: true });
}

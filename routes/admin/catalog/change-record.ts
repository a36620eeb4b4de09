// How a route changes a record: it asks the catalog, which says why not in its own terms.
import type { CatalogAction, CatalogReply } from '../../../actors/catalog/change.ts';
import type { Exchange } from '../../../runtime/http/route.ts';
import { fieldProblem } from '../../../runtime/http/validate.ts';
import { Problem } from '../../../runtime/problem.ts';
import type { Services, UserCaller } from '../../services.ts';
import { expectedRevision, staleProblem } from '../revision.ts';
import type { Resource } from './resources.ts';

const changeTimeoutMs = 10_000;

/** What a route asks of the catalog. */
export interface ChangeCall {
  services: Pick<Services, 'sql' | 'catalog'>;
  caller: UserCaller;
  exchange: Exchange;
  body?: { revision?: number | undefined } | undefined;
}

/**
 * Makes a change; every shard has the new catalog when this resolves.
 * @throws Problem not_found, conflict, invalid_request, dependency_unavailable
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
      return reply;
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

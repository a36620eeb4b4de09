// Which app a client id stands for. Records are in the catalog's snapshot: no query. A document is
// fetched where the settings admit it.
import type { Catalog } from '../catalog/current.ts';
import { admitsClient } from './admitted.ts';
import type { OAuthClient } from './client.ts';
import type { ClientDocuments } from './documents.ts';

interface Needed {
  catalog: { current(): Catalog; documents: ClientDocuments };
}

/**
 * The client that may act at this moment; null: there is none of this id, or it is disabled.
 * @throws Problem overloaded: documents are asked for too often
 */
export async function resolveClient(
  { catalog }: Needed,
  clientId: string,
): Promise<OAuthClient | null> {
  const current = catalog.current();
  if (!admitsClient(current, clientId)) return null;
  return current.clients.get(clientId) ?? catalog.documents.find(clientId);
}

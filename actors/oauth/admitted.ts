// Whether a client may still act for anybody. Shards know it without a query.
import type { Catalog } from '../catalog/current.ts';

/** Records that are enabled, and documents that the settings admit at this moment. */
export function admitsClient(catalog: Catalog, clientId: string): boolean {
  const record = catalog.clients.get(clientId);
  if (record !== undefined) return record.enabled;
  if (!clientId.startsWith('https://') || !URL.canParse(clientId)) return false;
  const { clientDocuments, clientDocumentHosts } = catalog.snapshot.identity;
  if (clientDocuments !== 'listed') return clientDocuments === 'any';
  return clientDocumentHosts.includes(new URL(clientId).host);
}

// The apps that act for an account, one item an app, as the person and administrators see them.
import * as v from 'valibot';
import type { Catalog } from '../../../actors/catalog/current.ts';
import { oauthScopes } from '../../../actors/oauth/client.ts';
import { type AuthorizedClient, listAuthorizedClients } from '../../../db/authorizations.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import { type ApiKey, listKeysOfClients } from '../../../db/keys.ts';
import { apiKeyBody, apiKeySchema } from '../../keys/schema.ts';
import type { Services } from '../../services.ts';

export const authorizedAppSchema = v.pipe(
  v.strictObject({
    client_id: v.string(),
    display_name: v.pipe(
      v.string(),
      v.description('The host of an app that only its own document describes.'),
    ),
    scopes: v.array(v.picklist(oauthScopes)),
    first_used_at: v.string(),
    last_used_at: v.string(),
    api_keys: v.pipe(
      v.array(apiKeySchema),
      v.description('Active keys that were made through it: they end with it.'),
    ),
  }),
  v.title('Authorization'),
);

/** A page of them, the one that was approved last first. */
export async function listAuthorizedApps(
  { sql, catalog }: Pick<Services, 'sql' | 'catalog'>,
  accountId: string,
  limit: number,
  afterId: string | null,
) {
  const page = listAuthorizedClients(sql, accountId, limit, afterId);
  const { clients, nextCursor } = await withDeadline(page);
  const names = clients.map(({ client }) => client);
  const keys = await withDeadline(listKeysOfClients(sql, accountId, names));
  const items = clients.map((client) => {
    const own = keys.filter((each) => each.client === client.client).map(({ key }) => key);
    return itemBody(client, own, catalog.current());
  });
  return { items, nextCursor };
}

function itemBody(authorized: AuthorizedClient, keys: readonly ApiKey[], catalog: Catalog) {
  const { client, scopes, firstUsedAt, lastUsedAt } = authorized;
  return {
    client_id: client,
    display_name: displayName(client, catalog),
    scopes,
    first_used_at: firstUsedAt.toISOString(),
    last_used_at: lastUsedAt.toISOString(),
    api_keys: keys.map(apiKeyBody),
  };
}

/** An app may have gone from the catalog; what a document calls itself nobody has checked. */
function displayName(client: string, { clients }: Catalog): string {
  const record = clients.get(client);
  if (record !== undefined) return record.displayName;
  return URL.canParse(client) ? new URL(client).host : client;
}

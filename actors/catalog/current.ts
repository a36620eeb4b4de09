// The catalog as a shard serves it at this moment. It is replaced whole when it changes: whoever
// has begun with one goes on with it.
import type { OAuthClient } from '../oauth/client.ts';
import type { ManagedRoute } from './managed.ts';
import type { CatalogModel } from './model.ts';
import type { CatalogSnapshot } from './snapshot.ts';

export interface Catalog {
  snapshot: CatalogSnapshot;
  models: ReadonlyMap<string, CatalogModel>;
  /** Managed routes by alias; an alias is in one of the two. */
  routes: ReadonlyMap<string, ManagedRoute>;
  /** OAuth clients by client id, disabled ones too. */
  clients: ReadonlyMap<string, OAuthClient>;
}

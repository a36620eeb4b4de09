// The records of the catalog as resources: what each kind's routes are called, take and give.
import {
  managedRouteSchema,
  modelSchema,
  newPackageSchema,
  priceSchema,
  providerSchema,
  surfaceSchema,
} from '../../../actors/catalog/document.ts';
import { clients } from './identity-resources.ts';
import { credential, rates } from './members.ts';
import { paymentProviders } from './payment-resources.ts';
import { promotions, rewardTasks } from './promotion-resources.ts';
import { type Resource, resource } from './resource.ts';

export const resources: readonly Resource[] = [
  resource(
    'providers',
    'Provider',
    providerSchema.entries,
    credential,
    'A provider is an upstream server with its wire format and credential. The credential is ' +
      'encrypted and never returned: `has_credential` says that there is one, ' +
      '`credential_key_id` which master key sealed it. A `base_url` of another server needs the ' +
      '`api_key` again, or null. Link-local and metadata addresses are refused. Providers of ' +
      'videos alone have `media_hosts`, `jobs_max` and `idempotency`. Policies of organizations ' +
      'go by its `region` and its `public_name`.',
  ),
  resource(
    'models',
    'Model',
    modelSchema.entries,
    rates,
    'A model is a public alias over one or more providers. `price` is a card of its own or the ' +
      'name of one; `public_rates` are what customers are shown. A disabled model leaves the ' +
      'catalog at once; requests that run already keep the record they began with. A model of ' +
      '`kind` `video` has `video`: what it can make, in whole seconds from 4 to 30. Its price is ' +
      '`per_second_of_video`; the most specific row of `video_rates` goes first.',
  ),
  resource(
    'prices',
    'Price',
    priceSchema.entries,
    rates,
    'A price card in US dollars that models refer to by its name; `public_rates` are the credits ' +
      'that customers are shown, the markup included.',
  ),
  resource(
    'routes',
    'Route',
    managedRouteSchema.entries,
    {},
    'A managed route is an alias over a pool of exact models: of generation, or with `kind` ' +
      '`video` of videos.',
  ),
  resource(
    'packages',
    'Package',
    newPackageSchema.entries,
    {},
    'A package of credits that can be bought, for `price_usd` or one of `prices`: integers in ' +
      'minor units, by currency (ISO 4217 in small letters). What is free in dollars has none.',
  ),
  resource(
    'surfaces',
    'Surface',
    surfaceSchema.entries,
    {},
    'A surface of unified query, or a name that discovery displays. `targets` are up to five ' +
      'search providers in order of preference, or `provider` is the one. `price` is ' +
      '`credits_per_query`, with no markup; omitted: `per_search_call` in credits. Without any ' +
      'price it serves models and voices alone. `web_answer` has no targets of its own: it ' +
      'answers from `search_surface` by `answer_model`. A `canary` is asked by every process, at ' +
      'no price; with nothing found twice the surface is not available.',
  ),
  clients,
  paymentProviders,
  promotions,
  rewardTasks,
];

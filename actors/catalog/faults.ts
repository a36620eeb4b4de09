// What is wrong with a catalog beyond its schema: names twice, references to nothing, prices that
// make no card, addresses that no provider has. Each fault names the member at fault.
import { findFamily } from '../../media/providers/generation/families.ts';
import { forwardFault } from '../../media/providers/generation/members.ts';
import type { ModelKind } from '../../media/providers/model-kinds.ts';
import { searchFamilyNames } from '../../media/providers/search/families.ts';
import { addressFault } from '../../media/transport/address.ts';
import { ConfigError } from '../../runtime/config.ts';
import type { CatalogDocument, ManagedRouteRecord, ProviderRecord } from './document.ts';
import { clientFaults, identityFaults } from './identity-faults.ts';
import { type Definition, kindsOfRecords, nameOf, type RecordKind, recordKinds } from './kinds.ts';
import { routeKind } from './managed.ts';
import { modelFaults, namedCardFaults } from './model-faults.ts';
import type { PathFault } from './path-fault.ts';
import { packageFaults, paymentProviderFaults } from './payments/faults.ts';
import {
  billingFaults,
  promotionFaults,
  repeatedCodes,
  rewardTaskFaults,
} from './promotions/faults.ts';
import { type SurfaceContext, surfaceFaults } from './surface/faults.ts';
import { videoProviderFaults, videoRouteFaults } from './video/faults.ts';

export interface Fault {
  kind: RecordKind;
  /** Which record of the kind; null: the list as a whole. */
  index: number | null;
  /** The member inside the record, such as `routes[0].provider`. */
  path: string;
  message: string;
}

/** One line for people: `models[0].routes[0].provider: there is no provider "x"`. */
export function faultLine({ kind, index, path, message }: Fault): string {
  if (index === null) return `${kind}: ${message}`;
  // A file has settings without a list around them.
  const place = kindsOfRecords[kind].onlyName ? kind : `${kind}[${index}]`;
  return `${place}${path === '' ? '' : `.${path}`}: ${message}`;
}

const standingShownMax = 5;

/**
 * What is declared and what is stored beside it may each be right alone: a declared route may have
 * the name of a model that was made by hand. Records are named: their places stand in no file.
 * `standing` are those that an administrator has changed or deleted, which may be the reason.
 * @throws ConfigError with one line
 */
export function assertSound(document: CatalogDocument, standing: readonly string[]): void {
  const [fault] = documentFaults(document);
  if (fault === undefined) return;
  const { kind, index, path, message } = fault;
  const name = index === null ? '' : ` ${namesOf(document, kind)[index]}`;
  const place = `${kindsOfRecords[kind].singular}${name}${path === '' ? '' : `: ${path}`}`;
  const others = standing.length > standingShownMax ? ', …' : '';
  const records = standing.slice(0, standingShownMax).join(', ') + others;
  const hint = `; administrators win until the file changes them: ${records}`;
  const reason = `${place}: ${message}${standing.length === 0 ? '' : hint}`;
  throw new ConfigError(`the catalog with what is stored is wrong: ${reason}`);
}

/** Every fault of the document. */
export function documentFaults(document: CatalogDocument): Fault[] {
  const names = Object.fromEntries(
    recordKinds.map((kind) => [kind, namesOf(document, kind)]),
  ) as Record<RecordKind, string[]>;
  const cards = new Map(document.prices.map((card) => [card.name, card]));
  const families = new Map(document.providers.map(({ name, family }) => [name, family]));
  const models = new Map(document.models.map(({ alias, kind }) => [alias, kind]));
  const surfaces = surfaceContext(document);
  const of = (kind: RecordKind, index: number, faults: PathFault[]) =>
    faults.map((fault) => ({ kind, index, ...fault }));
  return [
    ...recordKinds.flatMap((kind) => duplicates(kind, names[kind])),
    ...document.providers.flatMap((provider, index) =>
      of('providers', index, providerFaults(provider)),
    ),
    ...document.prices.flatMap((card, index) => of('prices', index, namedCardFaults(card))),
    ...document.models.flatMap((model, index) =>
      of('models', index, modelFaults(model, { families, cards })),
    ),
    ...document.routes.flatMap((route, index) => of('routes', index, routeFaults(route, models))),
    ...document.packages.flatMap((offered, index) => of('packages', index, packageFaults(offered))),
    ...document.surfaces.flatMap((surface, index) =>
      of('surfaces', index, surfaceFaults(surface, surfaces)),
    ),
    ...document.oauth_clients.flatMap((client, index) =>
      of('oauth_clients', index, clientFaults(client)),
    ),
    ...document.identity.flatMap((settings, index) =>
      of('identity', index, identityFaults(settings)),
    ),
    ...document.payment_providers.flatMap((provider, index) =>
      of('payment_providers', index, paymentProviderFaults(provider)),
    ),
    ...promotionalFaults(document, surfaces.writing, of),
  ];
}

/** The providers that search, and what a text can be asked of. */
function surfaceContext(document: CatalogDocument): SurfaceContext {
  const searchers = document.providers.filter(({ family }) => searchFamilyNames.includes(family));
  const models = document.models.filter(({ kind }) => kind === 'generation');
  const routes = document.routes.filter((route) => routeKind(route) === 'generation');
  return {
    searching: new Map(searchers.map(({ name, family }) => [name, family])),
    writing: new Set([...models, ...routes].map(({ alias }) => alias)),
  };
}

/** Codes, rewarded tasks, and the settings of billing. */
function promotionalFaults(
  document: CatalogDocument,
  writing: ReadonlySet<string>,
  of: (kind: RecordKind, index: number, faults: PathFault[]) => Fault[],
): Fault[] {
  const repeated = repeatedCodes(document.promotions);
  return [
    ...document.promotions.flatMap((promotion, index) =>
      of('promotions', index, promotionFaults(promotion, repeated)),
    ),
    ...document.reward_tasks.flatMap((task, index) =>
      of('reward_tasks', index, rewardTaskFaults(task)),
    ),
    ...document.billing.flatMap((settings, index) =>
      of('billing', index, billingFaults(settings, writing)),
    ),
  ];
}

function providerFaults(provider: ProviderRecord): PathFault[] {
  const { base_url, family, forward_members: names = [] } = provider;
  const address = addressFault(base_url);
  const faults = address === null ? [] : [{ path: 'base_url', message: address }];
  const format = findFamily(family)?.format ?? null;
  names.forEach((name, index) => {
    const path = `forward_members[${index}]`;
    const message = format === null ? 'it has no format of clients' : forwardFault(format, name);
    if (message !== null) faults.push({ path, message });
  });
  return [...faults, ...videoProviderFaults(provider)];
}

function namesOf(document: CatalogDocument, kind: RecordKind): string[] {
  return document[kind].map((record) => nameOf(kind, record as Definition));
}

function duplicates(kind: RecordKind, names: readonly string[]): Fault[] {
  const seen = new Set<string>();
  const faults: Fault[] = [];
  for (const name of names) {
    const message = `"${name}" is declared twice`;
    if (seen.has(name)) faults.push({ kind, index: null, path: '', message });
    seen.add(name);
  }
  return faults;
}

function routeFaults(
  route: ManagedRouteRecord,
  models: ReadonlyMap<string, ModelKind>,
): PathFault[] {
  const faults: PathFault[] = [];
  if (models.has(route.alias)) {
    faults.push({ path: 'alias', message: `"${route.alias}" is the name of a model` });
  }
  const seen = new Set<string>();
  route.pool.forEach(({ model }, index) => {
    const path = `pool[${index}].model`;
    const kind = models.get(model);
    if (kind === undefined) faults.push({ path, message: `there is no model "${model}"` });
    else if (kind !== routeKind(route)) {
      faults.push({
        path,
        message: `"${model}" is a ${kind} model: the pool has models for ${routeKind(route)} only`,
      });
    }
    if (seen.has(model)) faults.push({ path, message: `"${model}" is declared twice` });
    seen.add(model);
  });
  return [...faults, ...videoRouteFaults(route)];
}

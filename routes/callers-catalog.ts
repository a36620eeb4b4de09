// The catalog as a caller may use it: what its organization forbids is not in it.
import type { Catalog } from '../actors/catalog/current.ts';
import { catalogUnder } from '../actors/catalog/ruled/rules.ts';
import type { OrganizationContext } from '../actors/organization/context.ts';
import { rulesIn } from '../actors/organization/rules.ts';
import type { Services } from './services.ts';

export function catalogOf(
  { organization }: { organization: OrganizationContext | null },
  { catalog }: Pick<Services, 'catalog'>,
): Catalog {
  const rules = rulesIn(organization);
  return rules === null ? catalog.current() : catalogUnder(catalog.current(), rules);
}

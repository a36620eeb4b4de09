// What a purchase asks for, found in the catalog: the package, who sells it, and in which currency.
import type { PaymentProvider } from '../../actors/catalog/payments/provider.ts';
import { isFree, type SoldPackage, soldIn } from '../../actors/payments/packages.ts';
import { fieldProblem } from '../../runtime/http/validate.ts';
import { Problem } from '../../runtime/problem.ts';
import type { Services } from '../services.ts';

export interface SaleRequest {
  package_id?: string | undefined;
  package_slug?: string | undefined;
  provider?: string | undefined;
  currency?: string | undefined;
}

export interface Sale {
  sold: SoldPackage;
  /** Null: it costs nothing. */
  seller: PaymentProvider | null;
}

/**
 * Finds the sale. Without a provider it is the first enabled one by name that can sell the package.
 * Without a currency it is the provider's first that the package has.
 * @throws Problem invalid_request, dependency_unavailable where nobody sells anything
 */
export function findSale(services: Pick<Services, 'catalog'>, request: SaleRequest): Sale {
  const { snapshot } = services.catalog.current();
  const { member, slug } = namedPackage(request);
  const found = snapshot.packages.find((each) => each.slug === slug);
  if (found === undefined) throw fieldProblem(member, 'There is no such package.');
  const { currency } = request;
  if (isFree(found)) {
    const sold = soldIn(found, [currency ?? 'usd']);
    if (sold === null) throw fieldProblem('currency', 'The package is not sold in it.');
    return { sold, seller: null };
  }
  for (const seller of sellersOf(snapshot.payments, request.provider)) {
    const { currencies } = seller;
    const asked = currency === undefined ? currencies : currencies.filter((c) => c === currency);
    const sold = soldIn(found, asked);
    if (sold !== null) return { sold, seller };
  }
  throw fieldProblem('currency', 'The package is not sold in this currency.');
}

/** The one name of the package, and the member that it is refused at. */
function namedPackage({ package_id: id, package_slug: slug }: SaleRequest) {
  if (id !== undefined && slug !== undefined && id !== slug) {
    throw fieldProblem('package_slug', '`package_slug` and `package_id` name different packages.');
  }
  if (slug !== undefined) return { member: 'package_slug', slug };
  if (id !== undefined) return { member: 'package_id', slug: id };
  throw fieldProblem('package_slug', 'Name the package: `package_slug` or `package_id`.');
}

function sellersOf(
  all: readonly PaymentProvider[],
  wanted: string | undefined,
): readonly PaymentProvider[] {
  const enabled = all.filter((each) => each.enabled).sort((a, b) => (a.name < b.name ? -1 : 1));
  if (enabled.length === 0) {
    const message = 'Nothing can be bought at the moment.';
    throw new Problem('dependency_unavailable', { message });
  }
  if (wanted === undefined) return enabled;
  const named = enabled.filter(({ name }) => name === wanted);
  if (named.length === 0) throw fieldProblem('provider', 'There is no such provider.');
  return named;
}

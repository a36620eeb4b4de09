// The product as a value: its domains, what holds funds in them, and its routes. A shard runs
// whatever such a value says.
import { createComponents, type ShardGiven } from '../../actors/components.ts';
import type { Holders } from '../../actors/wallet/holder.ts';
import { holders } from '../../actors/wallet/holders.ts';
import type { AppRoute } from '../../routes/define.ts';
import { routes } from '../../routes/table.ts';

export interface Product {
  holders: Holders;
  routes: readonly AppRoute[];
  createComponents(given: ShardGiven): ReturnType<typeof createComponents>;
}

export const product: Product = { holders, routes, createComponents };

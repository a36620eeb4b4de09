// Entry of a shard thread.
import { product } from './composition/product.ts';
import { runShard } from './composition/run-shard.ts';

await runShard(product);

// A shard thread of the product with a domain from outside.
import { runShard } from '../../runtime/composition/run-shard.ts';
import { extended } from './parcels.ts';

await runShard(extended);

// A process that trusts what its environment says: prints why each database cannot be used.
import { assertDatabaseUsable } from '../../../db/driver/reach.ts';

const faults: string[] = [];
for (const url of process.argv.slice(2)) {
  const told = await assertDatabaseUsable(url).then(String, (error: Error) => error.message);
  faults.push(told);
}
process.stdout.write(JSON.stringify(faults));

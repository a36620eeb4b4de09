// How names become addresses: once a connection, all of them. DNS tells the names of the web, in
// the loop of this thread. A name that the operator opened may also stand in his hosts file.
import { ADDRCONFIG } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';

/** `web`: by DNS alone. `local`: as the machine does it. */
export type NameScope = 'web' | 'local';

/** All addresses; throws where there are none. `signal` ends the question. */
export type Resolve = (name: string, scope: NameScope, signal: AbortSignal) => Promise<string[]>;

/** The longest answer to look at; hundreds of addresses are nobody's honest answer. */
export const addressesMax = 64;

/** @param servers of DNS, as `address:port`; else those of the machine */
export function createResolve(servers?: readonly string[]): Resolve {
  return async (name, scope, signal) => {
    if (scope === 'web') return await askWeb(name, signal, servers);
    // It has a thread of Node's pool for as long as it likes: so it is for operators' names alone.
    const found = await lookup(name, { all: true, hints: ADDRCONFIG });
    return found.map(({ address }) => address);
  };
}

async function askWeb(
  name: string,
  signal: AbortSignal,
  servers: readonly string[] | undefined,
): Promise<string[]> {
  const resolver = new Resolver({ timeout: 700, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    // A name with addresses of one family is answered with an error for the other.
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (found.length === 0) throw new Error('no address of this name was told');
    return found;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

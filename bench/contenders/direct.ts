// No contender at all: the client calls the simulator. What the others add is measured against it.
import { CHAT_PATH, type Contender, UPSTREAM_MODEL } from '../contender.ts';

/** The simulator itself. */
export function directContender(simulatorPort: number): Contender {
  return {
    name: 'direct',
    description: 'straight to the simulator',
    port: simulatorPort,
    path: CHAT_PATH,
    model: UPSTREAM_MODEL,
    headers: { authorization: 'Bearer sim' },
    pids: () => [],
    databaseCpuMicros: () => 0,
    stop: () => Promise.resolve(),
  };
}

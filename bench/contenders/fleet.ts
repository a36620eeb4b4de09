// Brings up the contenders of one bench in front of one simulator: the gateway's, when it takes
// part, so that all of them call the very same process.
import type { Contender } from '../contender.ts';
import { startBare } from './bare.ts';
import { directContender } from './direct.ts';
import { type Gateway, startGateway } from './gateway.ts';
import { startNginx } from './nginx.ts';
import { startPortkey } from './portkey.ts';
import { startSimulator } from './simulator.ts';

export type ContenderName = 'direct' | 'nginx' | 'bare' | 'gateway' | 'portkey';

export interface Fleet {
  contenders: Contender[];
  gateway: Gateway | null;
  stop(): Promise<void>;
}

export interface FleetOptions {
  names: readonly ContenderName[];
  shards: number;
  /** Where the gateway's threads leave their CPU profiles; absent: not profiled. */
  profileFolder?: string;
}

/** Starts everything; when one part fails, what has started is stopped before it throws. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (const each of stops.splice(0).toReversed()) await each();
  };
  try {
    const gateway = options.names.includes('gateway') ? await startGateway(options) : null;
    if (gateway !== null) stops.push(() => gateway.stop());
    const simulator = gateway === null ? await startSimulator() : null;
    if (simulator !== null) stops.push(() => simulator.stop());
    const port = gateway?.simulatorPort ?? simulator?.port ?? 0;
    const contenders: Contender[] = [];
    for (const name of options.names) {
      const contender = await start(name, gateway, port, options.shards);
      if (contender !== gateway) stops.push(() => contender.stop());
      contenders.push(contender);
    }
    return { contenders, gateway, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function start(
  name: ContenderName,
  gateway: Gateway | null,
  simulatorPort: number,
  shards: number,
): Promise<Contender> {
  switch (name) {
    case 'direct':
      return directContender(simulatorPort);
    case 'nginx':
      return startNginx(simulatorPort, shards);
    case 'bare':
      return startBare(simulatorPort, shards);
    case 'portkey':
      return startPortkey(simulatorPort);
    case 'gateway':
      if (gateway === null) throw new Error('the gateway was not started');
      return gateway;
  }
}

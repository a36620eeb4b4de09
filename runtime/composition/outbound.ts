// The outbound guard of one shard, with what the operator opened and what is the service's own.
import { parseDatabaseUrl } from '../../db/driver/sql.ts';
import type { ShardBoot } from '../boot.ts';
import type { Config } from '../config.ts';
import type { Logger } from '../log.ts';
import type { Outbound } from '../outbound/contract.ts';
import { createOutbound } from '../outbound/outbound.ts';
import type { OwnPlace } from '../outbound/own.ts';

type Given = Pick<ShardBoot, 'config' | 'databaseUrl' | 'simulatorUrl'>;

export function createShardOutbound(boot: Given, log: Logger): Outbound {
  const { config, databaseUrl, simulatorUrl } = boot;
  const simulator = simulatorUrl === null ? [] : [new URL(simulatorUrl).host];
  return createOutbound({
    exceptions: [...config.fetchPrivate, ...simulator],
    own: ownPlaces(config, databaseUrl),
    log,
  });
}

/** Listeners, database, Redis and the store of files. A socket file has no port to refuse. */
export function ownPlaces(config: Config, databaseUrl: string): OwnPlace[] {
  const { host, port, metricsHost, metricsPort, baseUrl, webUrl, redisUrl, s3Endpoint } = config;
  const database = parseDatabaseUrl(databaseUrl);
  const urls = [baseUrl, webUrl, redisUrl, s3Endpoint].flatMap((url) => placeOf(url));
  return [
    { host, port },
    ...(metricsPort === null ? [] : [{ host: metricsHost, port: metricsPort }]),
    ...(database.host.startsWith('/') ? [] : [{ host: database.host, port: database.port }]),
    ...urls,
  ];
}

const usualPorts: Readonly<Record<string, number>> = {
  'http:': 80,
  'https:': 443,
  'redis:': 6_379,
  'rediss:': 6_379,
};

function placeOf(url: string | null): OwnPlace[] {
  if (url === null || !URL.canParse(url)) return [];
  const { protocol, hostname, port } = new URL(url);
  const known = port === '' ? usualPorts[protocol] : Number(port);
  return hostname === '' || known === undefined ? [] : [{ host: hostname, port: known }];
}

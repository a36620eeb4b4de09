// The canaries of this process, with connections of their own: they wait behind nobody's query.
import type { CatalogPublication } from '../../actors/catalog/live.ts';
import { downTopic } from '../../actors/provider-health/down.ts';
import { createRouteHealth } from '../../actors/provider-health/health.ts';
import { unpaidTopic } from '../../actors/provider-health/unpaid.ts';
import { canaryLimits } from '../../actors/search/canary/limits.ts';
import { createCanaries } from '../../actors/search/canary/working.ts';
import { attemptBounds } from '../../actors/search/limits.ts';
import { askProbe } from '../../actors/search/probing.ts';
import { createSearchClient } from '../../media/providers/search/call.ts';
import type { Logger } from '../log.ts';
import type { Bus } from '../work/bus.ts';

interface ProcessCanaries {
  catalog(): CatalogPublication;
  bus: Bus;
  log: Logger;
}

export function createProcessCanaries({ catalog, bus, log }: ProcessCanaries) {
  const { connectionsMax } = canaryLimits;
  const client = createSearchClient({ connectionsMax });
  // A canary that is answered ends what shards think of a route.
  const health = createRouteHealth(
    (found) => void bus.publish(unpaidTopic, found),
    (found) => void bus.publish(downTopic, found),
  );
  const canaries = createCanaries({
    surfaces: () => catalog().snapshot.surfaces,
    askTarget: (target, ask, signal) => {
      const deadlineMs = attemptBounds(ask.surface).attemptMs;
      return askProbe({ client, health }, target, ask, { deadlineMs, signal });
    },
    bus,
    clock: Date.now,
    log,
  });
  return {
    schedule: canaries.schedule,
    async stop(): Promise<void> {
      await canaries.stop();
      await client.close();
    },
  };
}

// What threads tell of the health of routes, as the monitor hears it.
import type { ActorRef } from '../../runtime/actor/contract.ts';
import type { Bus } from '../../runtime/work/bus.ts';
import { type DownRoute, downTopic } from '../provider-health/down.ts';
import { type UnpaidRoute, unpaidTopic } from '../provider-health/unpaid.ts';
import type { MonitorProtocol } from './protocol.ts';

export function followHealth(bus: Bus, monitor: () => ActorRef<MonitorProtocol>): void {
  bus.subscribe(unpaidTopic, (found) => void monitor().tell('unpaid', found as UnpaidRoute));
  bus.subscribe(downTopic, (found) => void monitor().tell('down', found as DownRoute));
}

// The one actor of each shard that answers for the shard itself.
import type { ActorKind } from '../../runtime/actor/contract.ts';
import type { RouteHealth } from '../provider-health/health.ts';
import type { NodeProtocol } from './protocol.ts';

export interface NodeArgs {
  sockets(): number;
  metrics(): Promise<unknown>;
  health: RouteHealth;
  /** A generation or a voice session. */
  isRunning(ownerId: string): boolean;
}

export const nodeActorId = 'node';

export const nodeKind: ActorKind<NodeProtocol, NodeArgs, NodeArgs> = {
  name: 'node',
  parent: 'shard',
  placement: 'local',
  supervision: { strategy: 'resume', crashesMax: 10, withinMs: 60_000 },
  mailboxLengthMax: 64,
  start: (_context, args) => args,
  behaviour: {
    report(args, _payload, context) {
      const kinds = context.system.status();
      return {
        node: context.system.node,
        actors: kinds.reduce((sum, kind) => sum + kind.alive, 0),
        sockets: args.sockets(),
        kinds,
        routes: args.health.records(Date.now()),
      };
    },
    metrics: (args) => args.metrics(),
    lost: (args, ownerIds) => ownerIds.filter((id) => !args.isRunning(id)),
  },
};

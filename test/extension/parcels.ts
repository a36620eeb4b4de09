// A domain from outside: parcels that hold funds while they are on their way. One kind, one holder,
// one route and one component, made only of what the product offers to every domain.
import * as v from 'valibot';
import { createComponents, type ShardGiven } from '../../actors/components.ts';
import { createHolders, type Holder } from '../../actors/wallet/holder.ts';
import { holders } from '../../actors/wallet/holders.ts';
import type { HoldReply, SettleReply, WalletProtocol } from '../../actors/wallet/protocol.ts';
import type { HolderRows } from '../../db/ledger/holder.ts';
import { definePart } from '../../db/ledger/part.ts';
import { ownedRows } from '../../db/ledger/write.ts';
import { defineRoute } from '../../routes/define.ts';
import { routes } from '../../routes/table.ts';
import type { ActorKind, ActorRef, Answer } from '../../runtime/actor/contract.ts';
import type { Product } from '../../runtime/composition/product.ts';
import { newId, siblingId } from '../../runtime/ids.ts';
import { Problem } from '../../runtime/problem.ts';
import { type Component, defineComponent } from '../../runtime/shard/component.ts';

/** Its table, which a migration of the domain would make. */
export const parcelTable = `CREATE TABLE parcels (
  wallet_id text NOT NULL, id text PRIMARY KEY, hold_id text NOT NULL,
  label text NOT NULL, state text NOT NULL DEFAULT 'under_way', charge_micros bigint)`;

interface ParcelRow {
  id: string;
  holdId: string;
  label: string;
}

interface ParcelEnd {
  id: string;
  state: string;
  chargeMicros: bigint | null;
}

export const parcelRows: HolderRows = {
  kind: 'parcel',
  idPrefix: 'vjob',
  outlivesProcess: false,
  parts: [
    definePart<ParcelRow>({
      name: 'parcel_claims',
      rows: (write) => ownedRows(write, 'parcel_claims'),
      columns: [
        ['id', 'text', ({ id }) => id],
        ['hold_id', 'text', ({ holdId }) => holdId],
        ['label', 'text', ({ label }) => label],
      ],
      text: (rows) => `INSERT INTO parcels (wallet_id, id, hold_id, label)
        SELECT r.wallet_id, r.id, r.hold_id, r.label FROM ${rows}`,
    }),
    definePart<ParcelEnd>({
      name: 'parcel_ends',
      isCounted: true,
      rows: (write) => ownedRows(write, 'parcel_ends'),
      columns: [
        ['id', 'text', ({ id }) => id],
        ['state', 'text', ({ state }) => state],
        ['charge_micros', 'bigint', ({ chargeMicros }) => chargeMicros],
      ],
      text: (rows) => `UPDATE parcels p SET state = r.state, charge_micros = r.charge_micros
        FROM ${rows} WHERE p.id = r.id AND p.wallet_id = r.wallet_id`,
    }),
  ],
  table: 'parcels',
  alias: 'p',
  state: 'state',
  live: ['under_way'],
  charged: 'charge_micros IS NOT NULL',
  leftColumns: ['label'],
};

const parcelHolder: Holder = {
  rows: parcelRows,
  claim(changes, claim, { holdId }) {
    changes.set('parcel_claims', claim.id, { id: claim.id, holdId, label: String(claim.label) });
  },
  finish(changes, id, given, { chargeMicros }) {
    const state = given === null ? 'lost' : String(given.state);
    changes.set('parcel_ends', id, { id, state, chargeMicros });
  },
  endAlone({ holdId, ownerId, left }) {
    // What is read with a left hold decides how it ends.
    const finish =
      ownerId === null ? null : { kind: 'parcel', id: ownerId, state: `lost: ${left.label}` };
    return { message: 'release', request: { holdId, reason: 'recovered', finish } };
  },
};

/** All holders of the product, and parcels. */
export const allHolders = createHolders([...holders.all, parcelHolder]);

type ParcelProtocol = {
  held: (answer: Answer<HoldReply>) => void;
  arrive: (payload: null) => { status: 'arriving' };
  settled: (answer: Answer<SettleReply>) => void;
  giveUp: (payload: null) => void;
};

interface ParcelSpec {
  id: string;
  accountId: string;
  walletId: string;
  label: string;
  micros: bigint;
  /** Called once its hold is known. */
  onHeld(status: string): void;
  onArrived(): void;
}

type Wallets = (walletId: string) => ActorRef<WalletProtocol>;

function createParcelKind(
  instanceId: string,
  wallet: Wallets,
  running: Map<string, ActorRef<ParcelProtocol>>,
): ActorKind<ParcelProtocol, ParcelSpec, ParcelSpec> {
  return {
    name: 'parcel',
    parent: 'parcels',
    placement: 'local',
    supervision: { strategy: 'stop', crashesMax: 1, withinMs: 1_000 },
    mailboxLengthMax: 16,
    start(context, spec) {
      running.set(spec.id, context.self);
      const { id, accountId, label, micros } = spec;
      const hold = {
        holdId: siblingId(id, 'hold'),
        amountMicros: micros,
        owner: { kind: 'parcel', id, instanceId },
        expiresAtMs: Date.now() + 60_000,
        claim: { id, accountId, apiKeyId: null, label },
      };
      void wallet(spec.walletId)
        .ask('hold', hold, 5_000)
        .then((answer) => context.self.tell('held', answer));
      return spec;
    },
    behaviour: {
      held: (spec, answer) => spec.onHeld(answer.ok ? answer.value.status : answer.reason),
      arrive(spec, _payload, context) {
        const finish = { kind: 'parcel', id: spec.id, state: 'arrived' };
        const holdId = siblingId(spec.id, 'hold');
        const settle = { holdId, chargeMicros: spec.micros, providerCostMicros: 0n, finish };
        void wallet(spec.walletId)
          .ask('settle', settle, 5_000)
          .then((answer) => context.self.tell('settled', answer));
        return { status: 'arriving' };
      },
      settled(spec, _answer, context) {
        spec.onArrived();
        context.stop();
      },
      giveUp: (_spec, _payload, context) => context.stop(),
    },
    stopped: ({ id }) => void running.delete(id),
  };
}

interface ParcelServices {
  send(parcel: Omit<ParcelSpec, 'id' | 'onHeld' | 'onArrived'>, isSlow: boolean): Promise<object>;
}

/** The component of this shard sets it for the route. */
let services: ParcelServices | null = null;

function createParcelComponent(given: ShardGiven, wallet: Wallets): Component {
  const running = new Map<string, ActorRef<ParcelProtocol>>();
  const kind = createParcelKind(given.instanceId, wallet, running);
  services = {
    async send(parcel, isSlow) {
      const system = given.system();
      const id = newId('vjob', system.node);
      let arrived = () => {};
      const onArrived = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      const held = await new Promise<string>((resolve) => {
        const own = { ...parcel, id, onHeld: resolve, onArrived: () => arrived() };
        if (system.spawn(kind, id, own) === null) resolve('overloaded');
      });
      if (held !== 'held') throw new Problem('insufficient_credits');
      if (isSlow) return { id, state: 'under_way' };
      system.at(kind, { node: system.node, kind: kind.name, id }).tell('arrive', null);
      await onArrived;
      return { id, state: 'arrived' };
    },
  };
  return defineComponent({
    name: 'parcels',
    kinds: [kind],
    size: () => running.size,
    has: (id) => running.has(id),
    // What a shard cannot end is left to whoever ends holds without it.
    finish() {
      for (const parcel of running.values()) parcel.tell('giveUp', null);
    },
  });
}

const sendParcel = defineRoute({
  method: 'POST',
  path: '/v1/parcels',
  operationId: 'sendParcel',
  summary: 'Send a parcel',
  tag: 'Generation',
  documents: ['model'],
  access: { kind: 'key', scope: 'models:generate' },
  cors: 'public',
  body: {
    kind: 'json',
    schema: v.strictObject({ label: v.string(), micros: v.number(), slow: v.boolean() }),
    bytesMax: 1_024,
  },
  replies: { 200: { description: 'Sent.', schema: v.looseObject({ id: v.string() }) } },
  problems: ['insufficient_credits'],
  async handle({ body, caller }) {
    if (services === null) throw new Error('the component is built before its route is asked');
    const { accountId, walletId } = caller as { accountId: string; walletId: string };
    const { label, micros, slow } = body;
    const parcel = { accountId, walletId, label, micros: BigInt(micros) };
    return { status: 200, json: await services.send(parcel, slow) };
  },
});

/** The product with parcels: nothing of it was edited. */
export const extended: Product = {
  holders: allHolders,
  routes: [...routes, sendParcel],
  createComponents(given) {
    const own = createComponents(given);
    return { ...own, list: [...own.list, createParcelComponent(given, own.wallet)] };
  },
};

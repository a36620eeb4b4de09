// What requests that have a row of generations are given by their shard, with a ledger and upstream
// calls that wait for the test: every order of their answers can be made.
import type { RequestDeps } from '../../actors/billed-request/spec.ts';
import type { GenerationDeps } from '../../actors/generation/spec.ts';
import { createLimits } from '../../actors/limits.ts';
import { createRouteHealth } from '../../actors/provider-health/health.ts';
import type { WalletProtocol } from '../../actors/wallet/protocol.ts';
import type { TimedHandle } from '../../media/providers/generation/contract.ts';
import type {
  ActorRef,
  Answer,
  MessageOf,
  PayloadOf,
  ReplyOf,
} from '../../runtime/actor/contract.ts';
import { readConfig } from '../../runtime/config.ts';
import { createGiveawayBuffers, GiveawayLimiter } from '../../runtime/limiter/giveaways.ts';
import { createLimiterBuffers, Limiter } from '../../runtime/limiter.ts';
import { createLog } from '../../runtime/log.ts';

type WalletMessage = MessageOf<WalletProtocol>;

interface Asked {
  message: WalletMessage;
  payload: unknown;
  reply(value: unknown): void;
}

/** A wallet that answers when the test says so. */
export class FakeWallet implements ActorRef<WalletProtocol> {
  readonly kind = 'wallet';
  readonly id = 'wal_fake';
  /** Everything it was sent. */
  readonly sent: WalletMessage[] = [];
  readonly #waiting: Asked[] = [];

  tell(message: WalletMessage): boolean {
    this.sent.push(message);
    return true;
  }

  ask<M extends WalletMessage>(
    message: M,
    payload: PayloadOf<WalletProtocol, M>,
  ): Promise<Answer<ReplyOf<WalletProtocol, M>>> {
    this.sent.push(message);
    return new Promise((resolve) => {
      const reply = (value: unknown) =>
        resolve({ ok: true, value: value as ReplyOf<WalletProtocol, M> });
      this.#waiting.push({ message, payload, reply });
    });
  }

  /** Answers the oldest question of this name; resolves when the answer has been heard. */
  async answer<M extends WalletMessage>(message: M, decide: WalletProtocol[M]): Promise<void> {
    const index = this.#waiting.findIndex((asked) => asked.message === message);
    const [asked] = index === -1 ? [] : this.#waiting.splice(index, 1);
    if (asked === undefined) throw new Error(`nobody asked for ${message}`);
    asked.reply(decide(asked.payload as never));
    await turns();
  }
}

/** One call, which says what the test says. */
export interface FakeCall<Listener> extends TimedHandle {
  readonly listener: Listener;
  isPaused: boolean;
  isAborted: boolean;
}

/** In place of a client of upstream calls, of text models or of audio. */
export class FakeCalls<Listener> {
  readonly openCount = 0;
  readonly made: FakeCall<Listener>[] = [];

  start(_family: unknown, _call: unknown, _deadlines: unknown, listener: Listener): TimedHandle {
    const call: FakeCall<Listener> = {
      listener,
      isPaused: false,
      isAborted: false,
      ownMs: 0,
      abort: () => {
        call.isAborted = true;
      },
      pause: () => {
        call.isPaused = true;
      },
      resume: () => {
        call.isPaused = false;
      },
    };
    this.made.push(call);
    return call;
  }

  async close(): Promise<void> {}

  /** The call of this number, from 0. */
  at(index: number): FakeCall<Listener> {
    const call = this.made[index];
    if (call === undefined) throw new Error(`there is no call ${index}`);
    return call;
  }
}

/** Long enough for messages within a thread to have been handled. */
export async function turns(): Promise<void> {
  for (let count = 0; count < 10; count += 1) {
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}

/** Counts nothing. */
export const noMetrics: RequestDeps['metrics'] = {
  firstEvent: () => {},
  ended: () => {},
  detached: () => {},
  doubted: () => {},
  unread: () => {},
  givenAway: () => {},
};

/** Every wallet is this one, and thought to be rich. */
export function fakeRequestDeps(
  wallet: FakeWallet,
): Omit<RequestDeps, 'running'> & Pick<GenerationDeps, 'giveaways'> {
  const limiter = new Limiter(createLimiterBuffers(Date.now(), 1, 1_000), 1);
  return {
    instanceId: 'ins_fake',
    wallet: () => wallet,
    health: createRouteHealth(),
    fundsEstimate: { expectsFunds: () => true, saw: () => {}, forget: () => {} },
    limiter,
    giveaways: new GiveawayLimiter(createGiveawayBuffers(Date.now()), limiter, 2_000_000),
    limits: createLimits(readConfig({})),
    metrics: noMetrics,
    log: createLog({ level: 'silent', base: {}, sync: true }),
  };
}

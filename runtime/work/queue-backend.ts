// BullMQ's PostgreSQL backend, made to outlive its database and a network that falls silent.
import type * as BullMq from 'bullmq';
import { pause } from './pause.ts';

/** What is needed of the pool of `pg`, which comes without types. */
interface ClientPool {
  Client: { prototype: ErrorEmitter };
}
interface ErrorEmitter {
  on(event: 'error', listener: () => void): void;
  connect(...given: unknown[]): unknown;
  end(...given: unknown[]): unknown;
}
/** What BullMQ listens with, which it gives up only for an error of the client's own. */
interface Listening {
  listenClient?: { connection: { stream: { destroy(): void } } };
}
const heard = new WeakSet<object>();

/** After a failed look for work; the default of 15 s would be the length of every outage. */
export const RECONNECT_MS = 500;
/** A look for work costs one short query. */
const WAIT_SECONDS_MAX = 5;

/**
 * Gives every client a listener from its first moment to its last. BullMQ adds its own to the
 * listening client only after it is connected, and takes all of them away before it ends it: an
 * error that comes with the last byte of the handshake, or from a server that stops when we do,
 * would end the process. Nobody else here speaks through `pg`.
 */
function hearClients({ Client }: ClientPool): void {
  const { prototype } = Client;
  if (heard.has(prototype)) return;
  heard.add(prototype);
  const { connect, end } = prototype;
  prototype.connect = function connectHeard(this: ErrorEmitter, ...given: unknown[]) {
    this.on('error', () => undefined);
    return connect.apply(this, given);
  };
  prototype.end = function endHeard(this: ErrorEmitter, ...given: unknown[]) {
    this.on('error', () => undefined);
    return end.apply(this, given);
  };
}

/**
 * Makes a backend outlive its database. A client that is in use when its server dies emits an
 * error that neither BullMQ nor the pool listens to, which would end the process. And BullMQ takes
 * only Redis's errors for a lost connection: after any other it looks for work again at once, and
 * would spin for as long as the database is away; so a failed look takes time here.
 *
 * After a failed look BullMQ (5.x) waits for a notification for up to an hour, and asks once what
 * is due next. Where a silent connection swallows that question nothing is done for the hour. Here
 * each wait ends after seconds, and BullMQ looks again.
 */
export function makePatient<
  B extends Pick<BullMq.PostgresQueueBackend, 'connection' | 'moveToActive' | 'waitForJob'>,
>(backend: B): B {
  const moveToActive = backend.moveToActive.bind(backend);
  const waitForJob = backend.waitForJob.bind(backend);
  const late = async (error: unknown): Promise<never> => {
    await pause(RECONNECT_MS);
    throw error;
  };
  const leave = (error: unknown): Promise<never> => {
    const { listenClient } = backend.connection as unknown as Listening;
    listenClient?.connection.stream.destroy();
    return late(error);
  };
  hearClients(backend.connection.pool as unknown as ClientPool);
  backend.moveToActive = (...given) => moveToActive(...given).catch(late);
  backend.waitForJob = (seconds) => waitForJob(Math.min(seconds, WAIT_SECONDS_MAX)).catch(leave);
  return backend;
}

// A call's deadline: its caller's signal, and ours where that is late. A call that is given up may
// have been done.
import { AwakeTimer } from '../../runtime/awake.ts';
import { PaymentFault } from './contract.ts';

/** Longer than both vendors need for their slowest call. */
const callMs = 30_000;

/** Runs a call with a signal that ends it. @throws PaymentFault `unknown` once that is given */
export async function withinDeadline<T>(
  signal: AbortSignal,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  // Not AbortSignal.any with AbortSignal.timeout: on Node 20 the two may be collected unheard.
  const controller = new AbortController();
  const { promise, reject } = deferred();
  const giveUp = () => {
    reject(new PaymentFault('unknown', 'the call was given up before its answer came'));
    controller.abort();
  };
  const timer = new AwakeTimer(callMs, giveUp);
  signal.addEventListener('abort', giveUp);
  try {
    if (signal.aborted) throw new PaymentFault('unknown', 'the call was given up');
    return await Promise.race([call(controller.signal), promise]);
  } finally {
    timer.cancel();
    signal.removeEventListener('abort', giveUp);
  }
}

function deferred(): { promise: Promise<never>; reject: (error: Error) => void } {
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<never>((_resolve, refuse) => {
    reject = refuse;
  });
  // It is raced, and may lose.
  promise.catch(() => undefined);
  return { promise, reject };
}

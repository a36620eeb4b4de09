// A thread that stands still, as after the pause of a machine: its timers are what comes first.

/** Ends once the thread stands before its timers, having stood still for so long. */
export async function standStill(ms: number, begins = () => {}): Promise<void> {
  // Behind this the timers are what comes first.
  await new Promise((resolve) => setImmediate(resolve));
  begins();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

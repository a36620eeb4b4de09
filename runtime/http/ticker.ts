// One coarse clock per thread for everything that waits: keep-alives and body deadlines.
// Who waits writes down the tick number; nobody has a timer of its own.

export interface Ticking {
  /** Called once a tick; must not throw. */
  tick(now: number): void;
}

export interface Ticker {
  /** Ticks since the start. */
  now: number;
  readonly tickMs: number;
  /** How many ticks are at least this long. */
  ticksOf(durationMs: number): number;
  stop(): void;
}

/** Starts the clock; it does not keep the process alive. */
export function createTicker(tickMs: number, listeners: readonly Ticking[]): Ticker {
  const ticker: Ticker = {
    now: 0,
    tickMs,
    ticksOf: (durationMs) => Math.max(1, Math.ceil(durationMs / tickMs)),
    stop: () => clearInterval(timer),
  };
  const timer = setInterval(() => {
    ticker.now += 1;
    for (const listener of listeners) listener.tick(ticker.now);
  }, tickMs);
  timer.unref();
  return ticker;
}

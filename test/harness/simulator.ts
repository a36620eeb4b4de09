// What tests ask the upstream simulator: how often it was called, with what, and outages.
import assert from 'node:assert/strict';

export interface SimulatorStats {
  started: number;
  finished: number;
  aborted: number;
  open: number;
}

const settleMs = 30_000;

export class Simulator {
  readonly url: string;

  constructor(url: string) {
    this.url = url;
  }

  async reset(): Promise<void> {
    await this.#post('/sim/reset', {});
  }

  async stats(): Promise<SimulatorStats> {
    return (await this.#get('/sim/stats')) as SimulatorStats;
  }

  /** The body of the last model request. */
  async lastBody(): Promise<Record<string, unknown>> {
    const { body } = (await this.#get('/sim/last')) as { body: Record<string, unknown> };
    return body;
  }

  /** Every model request is refused with this status, or for a bill, for a while; 0 ends it. */
  async outage(status: number | 'unpaid', durationMs: number): Promise<void> {
    await this.#post('/sim/outage', { status, for_ms: durationMs });
  }

  /** Waits until the counters are as expected. */
  async expect(wanted: Partial<SimulatorStats>): Promise<void> {
    const deadline = performance.now() + settleMs;
    for (;;) {
      const seen = await this.stats();
      const names = Object.keys(wanted) as (keyof SimulatorStats)[];
      if (names.every((name) => seen[name] === wanted[name])) return;
      if (performance.now() > deadline) {
        const { started, finished, aborted, open } = seen;
        assert.deepEqual({ started, finished, aborted, open }, { ...seen, ...wanted });
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async #get(path: string): Promise<unknown> {
    return (await fetch(this.url + path)).json();
  }

  async #post(path: string, body: unknown): Promise<void> {
    const response = await fetch(this.url + path, { method: 'POST', body: JSON.stringify(body) });
    assert.equal(response.status, 200);
    await response.arrayBuffer();
  }
}

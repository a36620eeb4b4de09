// What tests of analyses have in common: asking for one, and waiting for its end.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestAccount } from '../../harness/account.ts';
import type { Contract, Reply } from '../../harness/contract.ts';

export type Members = Record<string, unknown>;

export interface Analysis extends Members {
  id: string;
  status: string;
  progress: number;
  error_code?: string;
  error_message?: string;
  svc_usage?: { charge_microcredits: number; request_id: string };
  source?: { frames: number[]; duration_seconds: number; kind: string; sha256: string };
  result?: {
    summary: string;
    answer: string | null;
    segments: { start_seconds: number; end_seconds: number; description: string }[];
  };
}

type Caller = Pick<TestAccount, 'apiKey'>;

const endMs = 60_000;

export class Analyses {
  constructor(
    readonly contract: Contract,
    /** A gateway that starts again has another one. */
    readonly simulatorUrl: () => string,
  ) {}

  /** The address of a source of the simulator. */
  source(name: string): string {
    return `${this.simulatorUrl()}/sim/source/${name}`;
  }

  ask({ apiKey }: Caller, body: Members, headers: Record<string, string> = {}): Promise<Reply> {
    const all = { authorization: `Bearer ${apiKey}`, ...headers };
    const asked = { source_url: this.source('count.mp4'), ...body };
    return this.contract.call('POST', '/v1/video/analyses', { headers: all, body: asked });
  }

  async begin(caller: Caller, body: Members = {}): Promise<Analysis> {
    const reply = await this.ask(caller, body);
    assert.equal(reply.status, 202, reply.text);
    return reply.json.analysis as Analysis;
  }

  read({ apiKey }: Caller, id: string): Promise<Reply> {
    const headers = { authorization: `Bearer ${apiKey}` };
    return this.contract.call('GET', `/v1/video/analyses/${id}`, { headers });
  }

  /** Looks until it is over. Its progress never falls. */
  async end(caller: Caller, { id }: { id: string }): Promise<Analysis> {
    const deadline = performance.now() + endMs;
    for (let before = 0; ; ) {
      const reply = await this.read(caller, id);
      assert.equal(reply.status, 200, reply.text);
      const analysis = reply.json.analysis as Analysis;
      assert.ok(analysis.progress >= before, 'progress falls');
      before = analysis.progress;
      const isOver = analysis.status === 'completed' || analysis.status === 'failed';
      assert.equal(reply.headers.get('retry-after'), isOver ? null : '1');
      if (isOver) return analysis;
      assert.ok(performance.now() < deadline, `it does not end: ${reply.text}`);
      await sleep(50);
    }
  }

  async run(caller: Caller, body: Members = {}): Promise<Analysis> {
    return this.end(caller, await this.begin(caller, body));
  }
}

// What the tests of promotional credit share: a gateway, its administrator, people, and pages of
// the simulator that they hand in.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TestAccount } from '../../harness/account.ts';
import { Contract, type Reply } from '../../harness/contract.ts';
import { openTestbed, type Testbed } from '../../harness/testbed.ts';
import { type AdminApi, openAdminApi } from '../admin/admin-api.ts';

type Members = Record<string, unknown>;

export interface Submission {
  id: string;
  state: string;
  credits: number;
  challenge_code?: string;
  verification_confidence?: number | null;
  verification_checks?: string[];
  credited_at?: string | null;
}

const patienceMs = 60_000;
export const taskCredits = 50;

export async function until<T>(what: string, find: () => Promise<T | null>): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const found = await find();
    if (found !== null) return found;
    assert.ok(performance.now() < deadline, `not in time: ${what}`);
    await sleep(20);
  }
}

export class RewardBed {
  readonly bed: Testbed;
  readonly admin: AdminApi;
  readonly contract: Contract;

  constructor(bed: Testbed, admin: AdminApi, contract: Contract) {
    this.bed = bed;
    this.admin = admin;
    this.contract = contract;
  }

  /** An account without credits. */
  person(): Promise<TestAccount> {
    return this.bed.account({ micros: 0n });
  }

  call(person: TestAccount, method: string, path: string, body?: unknown): Promise<Reply> {
    return this.contract.call(method, `/api/me/rewards/${path}`, {
      headers: { 'x-svc-session': person.sessionToken },
      ...(body === undefined ? {} : { body }),
    });
  }

  async start(person: TestAccount, task: string): Promise<Submission> {
    const reply = await this.call(person, 'POST', 'start', { task_key: task });
    assert.ok(reply.status === 201 || reply.status === 200, reply.text);
    return reply.json.submission as unknown as Submission;
  }

  /** `kind.seed` of a page, with the code of whoever hands it in. */
  pageUrl(kind: string, seed: number, code: string | undefined): string {
    return `${this.bed.dev.simulator_url}/sim/pages/${kind}.${seed}.${code ?? 'NONE'}`;
  }

  async handIn(person: TestAccount, { id }: Submission, url: string): Promise<Reply> {
    return this.call(person, 'POST', 'evidence', { submission_id: id, evidence_url: url });
  }

  /** Waits until nobody judges it any more. */
  judged(person: TestAccount, { id }: Submission): Promise<Submission> {
    return until(`the submission ${id} is judged`, async () => {
      const reply = await this.call(person, 'GET', 'submissions');
      const found = (reply.json.data as unknown as Submission[]).find((each) => each.id === id);
      return found === undefined || found.state === 'verifying' ? null : found;
    });
  }

  async review(id: string, decision: string): Promise<Reply> {
    const body = { submission_id: id, decision, notes: 'looked at' };
    return this.admin('POST', '/rewards/review', { body });
  }

  async make(path: string, body: Members): Promise<void> {
    const reply = await this.admin('POST', path, { body });
    assert.equal(reply.status, 201, reply.text);
  }

  async setBilling(members: Members): Promise<void> {
    const reply = await this.admin('PUT', '/billing', { body: members });
    assert.equal(reply.status, 200, reply.text);
  }
}

/** A gateway with a task whose pages are judged, and one that administrators look at. */
export async function openRewardBed(own: string): Promise<RewardBed> {
  const bed = await openTestbed({ own });
  const stage = new RewardBed(bed, await openAdminApi(bed), await Contract.load(bed.url));
  const hosts = [new URL(bed.dev.simulator_url).host];
  await stage.make('/reward-tasks', {
    name: 'write',
    title: 'Write about it',
    credits: taskCredits,
    verification_method: 'public_content_ai',
    hosts,
    questions: [{ text: 'Does the page tell of "Tollgate"?' }, { text: 'Is there an "I use"?' }],
    terms: ['tollgate', 'i use'],
  });
  await stage.make('/reward-tasks', {
    name: 'follow',
    title: 'Follow us',
    credits: taskCredits,
    verification_method: 'social_follow_review',
  });
  const rewards = { model: 'svc-sim-chat', auto_credits_per_day: 1_000_000 };
  await stage.setBilling({ rewards });
  return stage;
}

// What is told where funds, a spend limit or the organization keep a request from its hold.
import { type PlainProblem, plainProblem } from '../../runtime/problem.ts';
import type { Bar } from '../wallet/caps.ts';
import type { HoldReply, SpendCap } from '../wallet/protocol.ts';

/** A hold says this, or a look at what one would find. */
export type SpendRefusal = Extract<
  HoldReply,
  { status: 'insufficient' | 'over_limit' | 'not_allowed' }
>;

export function isSpendRefusal(reply: HoldReply): reply is SpendRefusal {
  const { status } = reply;
  return status === 'insufficient' || status === 'over_limit' || status === 'not_allowed';
}

export function refusalProblem(refusal: SpendRefusal): PlainProblem {
  if (refusal.status === 'not_allowed') return barProblem(refusal.reason);
  const amounts = {
    required_microcredits: Number(refusal.requiredMicros),
    available_microcredits: Number(refusal.availableMicros),
  };
  if (refusal.status === 'insufficient') {
    return plainProblem('insufficient_credits', undefined, amounts);
  }
  const { cap } = refusal;
  const named = { cap: cap.kind, resets_at: resetTime(cap) };
  return plainProblem('spend_limit_exceeded', limitMessage(cap), { ...named, ...amounts });
}

function barProblem(bar: Bar): PlainProblem {
  if (bar === 'membership') return plainProblem('forbidden', barMessages[bar]);
  return plainProblem('policy_blocked', barMessages[bar], { rule: bar });
}

const barMessages: Readonly<Record<Bar, string>> = {
  organization_status: 'The organization is suspended or closed.',
  membership: 'This account may not spend of the wallet of the organization.',
};

/** The same in one sentence or two, for who is told no details. */
export function refusalMessage(refusal: SpendRefusal, short: string): string {
  if (refusal.status === 'not_allowed') return barMessages[refusal.reason];
  return refusal.status === 'over_limit' ? limitMessage(refusal.cap) : short;
}

const owners: Readonly<Record<SpendCap['kind'], string>> = {
  organization: 'The monthly spend limit of the organization',
  member: 'The monthly spend limit of this member',
  key: 'The spend limit of the key',
};

function limitMessage(cap: SpendCap): string {
  const time = resetTime(cap);
  const rest = time === null ? 'It does not begin anew.' : `It begins anew at ${time}.`;
  return `${owners[cap.kind]} does not allow this. ${rest}`;
}

function resetTime({ resetsAtMs }: SpendCap): string | null {
  return resetsAtMs === null ? null : new Date(resetsAtMs).toISOString();
}

// The widest that the guard is: a use may have less of each. Its own table is the contract's.
import assert from 'node:assert/strict';
import type { OutboundDeadlines, OutboundUse } from './contract.ts';

const redirectsMax = 5;

/**
 * A name takes some 50 ms, and 2 s with a resolver that is tried again. A connection takes a round
 * trip and TLS two more; 5 s are four lost packets. The head is a page that somebody computes.
 */
export const deadlines: OutboundDeadlines = {
  namesMs: 2_000,
  connectMs: 5_000,
  headersMs: 10_000,
  idleMs: 15_000,
};

/** What a use leaves out is the guard's own. Throws for one that is wider: that is a bug. */
export function boundsOf(use: OutboundUse): { redirectsMax: number; deadlines: OutboundDeadlines } {
  const own = use.deadlines ?? {};
  const redirects = use.redirectsMax ?? redirectsMax;
  const narrow = (name: keyof OutboundDeadlines) => {
    const ms = own[name] ?? deadlines[name];
    assert.ok(ms > 0 && ms <= deadlines[name], `${use.name}: ${name} may only be shorter`);
    return ms;
  };
  assert.ok(redirects >= 0 && redirects <= redirectsMax, `${use.name}: too many redirects`);
  assert.ok(use.bytesMax >= 0 && use.totalMs > 0, `${use.name}: it has no bounds`);
  return {
    redirectsMax: redirects,
    deadlines: {
      namesMs: narrow('namesMs'),
      connectMs: narrow('connectMs'),
      headersMs: narrow('headersMs'),
      idleMs: narrow('idleMs'),
    },
  };
}

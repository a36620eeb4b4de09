// Whether a rewrite pays. A provider has cached the messages as they came, and reads them at a
// tenth of the price; what is rewritten, and all behind it, is paid in full once more.
import type { Message } from '../request.ts';
import type { Candidate } from './drafts.ts';
import type { OptimizerSettings } from './settings.ts';
import { messageBytes } from './size.ts';

const CACHED_PRICE = 0.1;
/**
 * What extraction leaves out of a long output, by and large. The true share depends on questions
 * that are yet to come, and a decision that they could change would change a prefix.
 */
const PRUNED_SHARE = 0.4;

/**
 * The first of the pending candidates from which on a rewrite at boundary `to` gains most, or null
 * when it pays from none: then they wait for the next boundary. A conversation is taken to go on
 * for `horizon` times as many requests as it has had.
 *
 * Let a rewrite save S of R bytes behind it. Once it costs (R − S) in full instead of R cached, and
 * each later request saves S cached: it gains S × (1 + 0.1 × requests) − 0.9 × R.
 */
export function rewriteFrom(
  messages: readonly Message[],
  pending: readonly Candidate[],
  to: number,
  { horizon }: OptimizerSettings,
): number | null {
  const requests = messages.slice(0, to).filter(({ role }) => role === 'user' || role === 'tool');
  const worth = 1 + CACHED_PRICE * horizon * requests.length;
  let best: number | null = null;
  let bestGain = 0;
  let savedBytes = 0;
  let rewrittenBytes = 0;
  let next = to;
  for (let index = pending.length - 1; index >= 0; index -= 1) {
    const candidate = pending[index];
    if (candidate === undefined) continue;
    while (next > candidate.message) {
      next -= 1;
      const message = messages[next];
      if (message !== undefined) rewrittenBytes += messageBytes(message);
    }
    savedBytes += expectedSaving(candidate);
    const gain = savedBytes * worth - rewrittenBytes * (1 - CACHED_PRICE);
    if (gain <= bestGain) continue;
    best = index;
    bestGain = gain;
  }
  return best;
}

function expectedSaving({ draft }: Candidate): number {
  let bytes = 0;
  for (const saved of draft.saved.values()) bytes += saved;
  return draft.prunable === null ? bytes : bytes + PRUNED_SHARE * draft.text.length;
}

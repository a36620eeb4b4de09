// What to change in a conversation, as plain data, so that a thread can decide it. Segment after
// segment, each decision from what stands before its boundary.
import { addTo } from '../lists.ts';
import type { Message } from '../request.ts';
import { sealedSegments } from './boundary.ts';
import { createDemands } from './demands.ts';
import { type Candidate, Drafting } from './drafts.ts';
import { createLibrary } from './duplicates.ts';
import { rewriteFrom } from './payback.ts';
import { type OptimizerOptions, sealBytesOf, settingsOf } from './settings.ts';
import { bytesOf } from './size.ts';
import { prunedText, type Savings, STEP_NAMES, type Workbench } from './texts.ts';

export interface OptimizerPlan {
  edits: { message: number; part: number; text: string }[];
  /** What each step has saved, those that have, in the order in which they ran. */
  steps: { name: string; tokensSaved: number }[];
}

/** The slow half of `optimizeMessages`: what `applyPlan` has to change. */
export function planOptimization(
  messages: readonly Message[],
  options: OptimizerOptions,
): OptimizerPlan {
  const segments = sealedSegments(messages, sealBytesOf(options.mode));
  const sealed = segments.at(-1)?.to ?? 0;
  if (sealed === 0) return { edits: [], steps: [] };
  const settings = settingsOf(options, bytesOf(messages.slice(0, sealed)));
  const bench: Workbench = { settings, library: createLibrary() };
  const drafting = new Drafting(messages, bench);
  const demands = createDemands(messages, settings);
  const edits: OptimizerPlan['edits'] = [];
  const saved: Savings = new Map();
  let pending: Candidate[] = [];
  for (const segment of segments) {
    addTo(pending, drafting.candidates(segment));
    const from = rewriteFrom(messages, pending, segment.to, settings);
    if (from === null) continue;
    for (const { message, part, segment: own, before, draft } of pending.slice(from)) {
      const text = prunedText(draft, demands(own), settings);
      if (text === before) continue;
      edits.push({ message, part, text });
      for (const [name, bytes] of draft.saved) saved.set(name, (saved.get(name) ?? 0) + bytes);
    }
    pending = [];
  }
  const steps = STEP_NAMES.map((name) => {
    return { name, tokensSaved: Math.floor((saved.get(name) ?? 0) / 4) };
  });
  return { edits, steps: steps.filter(({ tokensSaved }) => tokensSaved > 0) };
}

// What is done to one text of a sealed message, step by step: what loses nothing first, extraction
// last. Assistant texts never come here: a model imitates what it seems to have written.
import { Buffer } from 'node:buffer';
import { withoutBlobs } from './blobs.ts';
import { type Library, wholeReference, withoutKnownRuns } from './duplicates.ts';
import { withoutEscapes } from './escapes.ts';
import { type Demand, extracted } from './extraction.ts';
import { minifiedJson } from './json-text.ts';
import { kindOf, readsFile, type TextKind } from './kind.ts';
import { withoutMarkup } from './markup.ts';
import { type Passage, passageOf } from './passage.ts';
import { withoutProgress, withoutRepeatedLines } from './repeats.ts';
import type { OptimizerSettings } from './settings.ts';
import { unitsOf } from './units.ts';
import { withoutPadding } from './whitespace.ts';

/** In the order in which they run. */
export const STEP_NAMES = [
  'duplicates',
  'markup',
  'json',
  'escapes',
  'repeats',
  'blobs',
  'whitespace',
  'extraction',
] as const;
export type StepName = (typeof STEP_NAMES)[number];

export interface TextJob {
  text: string;
  /** What later references call this text. */
  name: string;
  /** Null for a text of the user. */
  tool: { call: { name: string; arguments: string } | null; hasFailed: boolean } | null;
}

export interface Workbench {
  settings: OptimizerSettings;
  library: Library;
}

/** UTF-8 bytes that each step has saved. */
export type Savings = Map<StepName, number>;

/** A text after the steps that lose nothing. */
export interface Draft {
  text: string;
  saved: Savings;
  /** What extraction may cut; null where it may not. */
  prunable: { passage: Passage; kind: TextKind } | null;
}

/** The lossless steps: the same string when nothing is gained. */
export function draftOf(job: TextJob, bench: Workbench): Draft {
  const saved: Savings = new Map();
  const reference = wholeReference(bench.library, job.text, job.name);
  if (reference !== null) {
    addSaved(saved, 'duplicates', job.text, reference);
    return { text: reference, saved, prunable: null };
  }
  const { passage, kind } = worked(job, bench, saved);
  const text = passage.lines.join('\n');
  const isGain = text !== '' && Buffer.byteLength(text) < Buffer.byteLength(job.text);
  if (!isGain) saved.clear();
  return {
    text: isGain ? text : job.text,
    saved,
    prunable: mayPrune(job, text, bench.settings) ? { passage, kind } : null,
  };
}

/** Only outputs of tools, and of those that have succeeded: why one failed may be in any line. */
function mayPrune({ tool }: TextJob, text: string, { extraction }: OptimizerSettings): boolean {
  if (tool === null || tool.hasFailed || extraction === null) return false;
  return text.length >= extraction.charactersMin;
}

/** The draft without what no demand is for; what that saves is added to its savings. */
export function prunedText(
  draft: Draft,
  demands: readonly Demand[],
  { extraction }: OptimizerSettings,
): string {
  if (draft.prunable === null || extraction === null) return draft.text;
  const { passage, kind } = draft.prunable;
  const text = passage.lines.join('\n');
  const short = extracted(text, unitsOf(text, kind, passage), demands, extraction);
  if (short === text) return draft.text;
  addSaved(draft.saved, 'extraction', text, short);
  return short;
}

interface Worked {
  passage: Passage;
  kind: TextKind;
}

function worked(job: TextJob, bench: Workbench, saved: Savings): Worked {
  const { settings } = bench;
  const isFile = job.tool !== null && readsFile(job.tool.call);
  let text = job.text;
  if (job.tool !== null && !isFile && settings.stripsMarkup) {
    text = withoutMarkup(text);
    addSaved(saved, 'markup', job.text, text);
  }
  const passage = passageOf(text);
  const found = kindOf(text, passage.lines);
  const kind = isFile && settings.verbatimFiles && found !== 'diff' ? 'source' : found;
  if (kind === 'json') return { passage: smallJson(text, job, settings, saved), kind };
  const isVerbatim = kind === 'source' || kind === 'diff';
  const clean = isVerbatim ? passage : cleaned(passage, job, settings, saved);
  const mayReplace = kind !== 'source' || settings.partialRuns;
  const short = withoutKnownRuns(clean, bench.library, job.name, {
    ...settings,
    ...(mayReplace ? {} : { runLinesMin: Number.POSITIVE_INFINITY }),
  });
  addSavedLines(saved, 'duplicates', clean, short);
  return { passage: short, kind };
}

function smallJson(
  text: string,
  job: TextJob,
  settings: OptimizerSettings,
  saved: Savings,
): Passage {
  const passage: Passage = { lines: [text], fenced: null };
  if (job.tool === null) return passage;
  const small: Passage = { lines: [minifiedJson(text)], fenced: null };
  addSavedLines(saved, 'json', passage, small);
  const clean = withoutBlobs(small, settings.blobCharactersMin);
  addSavedLines(saved, 'blobs', small, clean);
  return clean;
}

type PassageStep = (passage: Passage) => Passage;

function cleaned(
  passage: Passage,
  job: TextJob,
  settings: OptimizerSettings,
  saved: Savings,
): Passage {
  const blobs: PassageStep = (each) => withoutBlobs(each, settings.blobCharactersMin);
  const steps: [StepName, PassageStep][] = [
    ['escapes', withoutEscapes],
    ['repeats', withoutRepeatedLines],
  ];
  if (settings.collapsesProgress) steps.push(['repeats', withoutProgress]);
  if (job.tool !== null) steps.push(['blobs', blobs]);
  steps.push(['whitespace', withoutPadding]);
  let current = passage;
  for (const [name, run] of steps) {
    const next = run(current);
    addSavedLines(saved, name, current, next);
    current = next;
  }
  return current;
}

function addSavedLines(saved: Savings, name: StepName, before: Passage, after: Passage): void {
  if (before !== after) addSaved(saved, name, before.lines.join('\n'), after.lines.join('\n'));
}

function addSaved(saved: Savings, name: StepName, before: string, after: string): void {
  if (before === after) return;
  const bytes = Buffer.byteLength(before) - Buffer.byteLength(after);
  saved.set(name, (saved.get(name) ?? 0) + bytes);
}

// What a request asks for: a linear score for each category from the words, phrases and shapes of
// the last user turn, with its tools and output format. Bounded: it looks at the two ends of a long
// text, where instructions stand, and at no more. Quoted and pasted text counts little.
import type { GenerationRequest, Message } from '../request.ts';
import { type TaskCategory, taskCategories } from './category.ts';
import { beginningOf, lastTurn, segmentsOf } from './excerpt.ts';
import {
  actionWords,
  entriesOf,
  lexicon,
  namedStrength,
  polite,
  type WeighedCategory,
  type Weights,
} from './lexicon.ts';
import {
  complaint,
  oneOf,
  phrases,
  shapes,
  unspaced,
  unspacedActions,
  unspacedSignals,
} from './signals.ts';

export interface Task {
  category: TaskCategory;
  /** 0 to 1: how far the category is ahead of the next one. */
  confidence: number;
}

/** What of a request is looked at. */
export type TaskRequest = Pick<GenerationRequest, 'messages' | 'outputFormat' | 'toolChoice'> & {
  tools: readonly { name: string }[];
};

type Scores = Record<TaskCategory, number>;

/** What a request without a sign is taken for. */
const chatBase = 1;
/** The verb of an instruction comes first. */
const firstFactors = [2.2, 1.5];
/** Words that go with a task prove no task, however many there are. */
const goesScoreMax = 5;
const wordScoreMax = 12;
/** That there is code says little about what is to be done with it. */
const codeShapesMax = 4;

const actions = actionSets();

/** Classifies by bounded work: under 100 µs, whatever the length of the request. */
export function classifyTask(request: TaskRequest): Task {
  const scores = Object.fromEntries(taskCategories.map((name) => [name, 0])) as Scores;
  scores.chat = chatBase;
  const text = lastTurn(request.messages);
  scoreShapes(scores, text);
  scoreWords(scores, text, 1);
  // Programs and a complaint are a search for the fault.
  if (scores.code >= namedStrength && complaint.test(text)) scores.debugging += 5;
  const system = request.messages.find(isInstruction);
  if (system !== undefined) {
    const rules = beginningOf(system);
    scoreWords(scores, rules, isAboutInput(rules) ? 2 : 0.6);
  }
  if (request.outputFormat.type !== 'text') scores.extraction += 4;
  scoreTools(scores, request, text);
  return best(scores);
}

function isInstruction({ role }: Message): boolean {
  return role === 'system' || role === 'developer';
}

/** Instructions that say what to do with whatever the user sends. */
function isAboutInput(rules: string): boolean {
  return /\b(?:every|everything|all|the user|user's|users)\b/i.test(rules);
}

const quantityAsked = oneOf([
  /\bhow (?:many|much|long|far|old)\b|cuánt|combien|wie ?viele?\b|quant[ioae]s?\b|hoeveel|ile\b/,
  /сколько|多少|几|何(?:個|人|円|時間)|몇|when do they/,
]);

function scoreShapes(scores: Scores, text: string): void {
  let code = 0;
  for (const { category, weight, pattern } of shapes) {
    if (!pattern.test(text)) continue;
    if (category === 'code') code += weight;
    else scores[category] += weight;
  }
  scores.code += Math.min(code, codeShapesMax);
  if (/\d\D+\d/.test(text) && quantityAsked.test(text.toLowerCase())) scores.math += 4;
  if (!unspaced.test(text)) return;
  for (const { category, weight, pattern } of unspacedSignals) {
    if (pattern.test(text)) scores[category] += weight;
  }
}

/** What the words of a text say for each category, by the list that they are of. */
type Found = Partial<Record<WeighedCategory, { named: number; goes: number }>>;

/** Words and phrases, each segment by how likely it is part of the instruction. */
function scoreWords(scores: Scores, text: string, weight: number): void {
  const found: Found = {};
  let position = 0;
  for (const { text: segment, share } of segmentsOf(text)) {
    const lower = segment.toLowerCase();
    if (share >= 0.5) scorePhrases(found, lower, share);
    for (const [raw] of lower.matchAll(/[\p{L}\p{M}][\p{L}\p{M}\p{N}'’.+#;/-]*/gu)) {
      const word = raw.replace(/[.';/-]+$/, '');
      if (position < firstFactors.length && polite.has(word)) continue;
      const factor = share * (firstFactors[position] ?? 1);
      position += 1;
      addWord(found, word, factor);
      if (word.includes('-')) for (const part of word.split('-')) addWord(found, part, factor);
    }
  }
  for (const [category, { named, goes }] of Object.entries(found) as [
    WeighedCategory,
    { named: number; goes: number },
  ][]) {
    const points = Math.min(named, wordScoreMax) + Math.min(goes, goesScoreMax);
    scores[category] += points * weight;
  }
}

function scorePhrases(found: Found, lower: string, share: number): void {
  for (const { category, weight, pattern } of phrases) {
    if (pattern.test(lower)) foundOf(found, category).named += weight * share;
  }
}

function foundOf(found: Found, category: WeighedCategory): { named: number; goes: number } {
  const entry = found[category] ?? { named: 0, goes: 0 };
  found[category] = entry;
  return entry;
}

/** The word itself and the longest stem of it: some words are another one in another language. */
function addWord(found: Found, word: string, factor: number): void {
  addWeights(found, lexicon.exact.get(word), factor);
  const { stems, stemLengthMin, stemLengthMax } = lexicon;
  for (let length = Math.min(word.length, stemLengthMax); length >= stemLengthMin; length -= 1) {
    const weights = stems.get(word.slice(0, length));
    if (weights === undefined) continue;
    addWeights(found, weights, factor);
    return;
  }
}

function addWeights(found: Found, weights: Weights | undefined, factor: number): void {
  if (weights === undefined) return;
  for (const category of Object.keys(weights) as WeighedCategory[]) {
    const points = weights[category] ?? 0;
    const entry = foundOf(found, category);
    if (points >= namedStrength) entry.named += points * factor;
    else entry.goes += points * factor;
  }
}

/** Tools make a request agentic when they are in use, must be used, or are what it is about. */
function scoreTools(scores: Scores, request: TaskRequest, text: string): void {
  const { tools, toolChoice, messages } = request;
  if (tools.length === 0) return;
  const recent = messages.slice(-4);
  if (recent.some(({ role, toolCalls }) => role === 'tool' || toolCalls.length > 0)) {
    scores.agent += 12;
  }
  if (toolChoice === 'required' || (typeof toolChoice === 'object' && toolChoice !== null)) {
    scores.agent += 8;
  }
  const lower = text.toLowerCase();
  const said = new Set(lower.match(/[\p{L}\p{M}][\p{L}\p{M}'-]*/gu) ?? []);
  let action = 0;
  for (const word of said) if (isAction(word)) action += 1;
  if (unspacedActions.test(lower)) action += 2;
  scores.agent += Math.min(action, 3) * 2.5;
  if (namesTool(tools, said)) scores.agent += 6;
  if (action > 0 && tools.some(({ name }) => workspaceTool.test(name))) scores.agent += 4;
}

function isAction(word: string): boolean {
  if (actions.exact.has(word)) return true;
  for (let length = 3; length <= word.length; length += 1) {
    if (actions.stems.has(word.slice(0, length))) return true;
  }
  return false;
}

function actionSets(): { exact: Set<string>; stems: Set<string> } {
  const exact = new Set<string>();
  const stems = new Set<string>();
  for (const entry of entriesOf(actionWords)) {
    if (entry.endsWith('*')) stems.add(entry.slice(0, -1));
    else exact.add(entry);
  }
  return { exact, stems };
}

/** Who has one of these sits in a workspace: what is asked for is to be done there. */
const workspaceTool = /^(?:bash|shell|terminal|exec|run_command|apply_patch)$|edit|write_file/i;
const toolNamesMax = 64;

/** Whether a word of the text is part of a tool's name, as `weather` of `get_weather`. */
function namesTool(tools: readonly { name: string }[], said: ReadonlySet<string>): boolean {
  for (const { name } of tools.slice(0, toolNamesMax)) {
    const parts = name.slice(0, 64).split(/[^a-zA-Z]+|(?<=[a-z])(?=[A-Z])/);
    for (const part of parts) {
      const word = part.toLowerCase();
      if (word.length > 3 && (said.has(word) || said.has(`${word}s`))) return true;
    }
  }
  return false;
}

function best(scores: Scores): Task {
  let first: TaskCategory = 'chat';
  for (const name of taskCategories) if (scores[name] > scores[first]) first = name;
  let second = 0;
  for (const name of taskCategories) {
    if (name !== first) second = Math.max(second, scores[name]);
  }
  return { category: first, confidence: scores[first] / (scores[first] + second + 1) };
}

// Sources as a model is given them: quoted, each within its own lines. So nothing in them reads as
// another source, as a mark or as a line of ours.
import { estimateTextTokens } from '../tokens.ts';
import type { GroundingSource } from './contract.ts';
import { withPlainMarks } from './marks.ts';

const titleCharactersMax = 300;
/** The model needs none of it: what is longer is shown in part. */
const urlCharactersMax = 512;
/** What the mark and the blank line take. */
const markTokens = 3;
const nearCharacters = 40;
const unseen = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\s]+/gu;

/**
 * The sources as far as they are quoted, in at most so many tokens. What says little leaves its
 * share to those behind it.
 */
export function quotable(
  sources: readonly GroundingSource[],
  tokensMax: number,
): GroundingSource[] {
  let left = tokensMax;
  return sources.map((source, index) => {
    const share = Math.floor(left / (sources.length - index));
    const title = Array.from(lineOf(source.title)).slice(0, titleCharactersMax).join('');
    const head = { title, url: lineOf(source.url) };
    const room = share - tokensOf({ ...head, text: '' });
    const quoted = { ...head, text: cutTo(lineOf(source.text), room) };
    left -= tokensOf(quoted);
    return quoted;
  });
}

export function quoteSources(sources: readonly GroundingSource[]): string {
  const blocks = sources.map((source, index) => `[${index + 1}] ${blockOf(source)}`);
  return `Sources:\n\n${blocks.join('\n\n')}`;
}

/** One line, whatever it is written with. */
export function lineOf(text: string): string {
  return text.replace(unseen, ' ').trim();
}

/** Title, address, and the text as a JSON string. */
function blockOf({ title, url, text }: GroundingSource): string {
  return `${withoutOwnMarks(title)}\n${url.slice(0, urlCharactersMax)}\n${quoted(text)}`;
}

function quoted(text: string): string {
  return JSON.stringify(withoutOwnMarks(text));
}

/** A page that says `[2]` means a note of its own: the model reads `(2)`. */
function withoutOwnMarks(text: string): string {
  return withPlainMarks(text).replace(/\[(\d+)\]/g, '($1)');
}

function tokensOf(source: GroundingSource): number {
  return markTokens + estimateTextTokens(blockOf(source));
}

/** It takes at most so many tokens as it is quoted, and ends at a blank where one is near. */
function cutTo(text: string, tokens: number): string {
  let cut = text;
  for (let size = sizeOf(cut); cut !== '' && size > tokens; size = sizeOf(cut)) {
    const length = Math.floor((cut.length * Math.max(0, tokens)) / size);
    cut = cut.slice(0, Math.min(cut.length - 1, length)).replace(/[\ud800-\udbff]$/, '');
  }
  if (cut.length === text.length) return cut;
  const blank = cut.lastIndexOf(' ');
  return blank > cut.length - nearCharacters ? cut.slice(0, blank) : cut;
}

function sizeOf(text: string): number {
  return estimateTextTokens(quoted(text));
}

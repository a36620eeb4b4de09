// Documents are read in a terminal and in a diff: short lines, short cells, plain sentences.
import type { Check } from './check.ts';
import { blocksOf, cellsOf, isTableRow, writtenDocuments } from './markdown.ts';
import { faultsOf, wordsIn } from './prose.ts';

const LINE_CHARACTERS_MAX = 120;
const CELL_CHARACTERS_MAX = 200;
/** A cell of fewer words is a label, and may be called By or Since. */
const CELL_LABEL_WORDS_MAX = 3;
/** An address alone cannot be broken. */
const ADDRESS = /^\s*(?:[-*+]\s+)?(?:\[[^\]]+\]:\s*)?<?https?:\/\/\S+$/;

const lengthOf = (text: string) => [...text].length;

function lineFault(line: string): string | null {
  if (isTableRow(line)) {
    const longest = Math.max(0, ...cellsOf(line).map(lengthOf));
    return longest > CELL_CHARACTERS_MAX ? `cell of ${longest} characters` : null;
  }
  const length = lengthOf(line);
  return length > LINE_CHARACTERS_MAX && !ADDRESS.test(line) ? `${length} characters` : null;
}

export const documentLines: Check = {
  id: 'document-lines',
  rule: `lines of documents have ${LINE_CHARACTERS_MAX} characters, cells ${CELL_CHARACTERS_MAX}`,
  advice: 'break these lines; what does not fit a cell is a section',
  find: ({ documents }) =>
    writtenDocuments(documents).flatMap(({ path, lines }) =>
      lines.flatMap((line, index) => {
        const fault = lineFault(line);
        return fault === null ? [] : [`${path}:${index + 1} ${fault}`];
      }),
    ),
};

export const documentSentences: Check = {
  id: 'document-sentences',
  rule: 'documents are plain sentences of at most 25 words',
  advice: 'one idea a sentence: subject, verb, object',
  find: ({ documents }) =>
    writtenDocuments(documents).flatMap((document) =>
      blocksOf(document).flatMap(({ kind, line, text }) => {
        if (kind === 'cell' && wordsIn(text) <= CELL_LABEL_WORDS_MAX) return [];
        return faultsOf(text).map((fault) => `${document.path}:${line} ${fault}`);
      }),
    ),
};

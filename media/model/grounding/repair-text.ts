// What a model is told whose answer does not stand on its sources: which sentences, and what to do.
import type { GroundingVerdict } from './contract.ts';

const sentencesMax = 12;
const charactersMax = 300;

/** The sentences are quoted, so that nothing in them reads as a line of ours. */
export function repairText({ unsupported }: GroundingVerdict): string {
  const named = unsupported.slice(0, sentencesMax).map((sentence, index) => {
    const short = Array.from(sentence.slice(0, 2 * charactersMax)).slice(0, charactersMax);
    return `${index + 1}. ${JSON.stringify(short.join(''))}`;
  });
  const complaint =
    named.length === 0
      ? ['Your answer has no mark that one of the sources supports.']
      : ['No source supports these sentences of your answer, or they name none:', ...named];
  return [
    ...complaint,
    '',
    'Write the whole answer again. Say only what the sources say, in their words, with their ' +
      'numbers, names and dates as they stand there. Put the mark of the source, as [1], behind ' +
      'every sentence. Leave out what no source says. Write no addresses.',
  ].join('\n');
}

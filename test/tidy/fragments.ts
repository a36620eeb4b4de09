// Comments are sentences. Those that are none yet are counted, and the number only falls:
// `node dist/test/tidy/report.js fragments` lists them by file.
import type { Check } from './check.ts';
import { commentsOf } from './comments.ts';
import { faultsOf } from './prose.ts';
import type { Source, Tree } from './tree.ts';

/** Where the number stands. */
const RATCHET = 'test/tidy/ratchet.json';

export function fragmentsOf(source: Source): string[] {
  return commentsOf(source).flatMap(({ line, paragraphs }) =>
    paragraphs.flatMap(faultsOf).map((fault) => `${source.path}:${line} ${fault}`),
  );
}

/** The most that may be; a tree that does not say so may have none. */
function allowedIn({ texts }: Tree): number {
  const text = texts.find(({ path }) => path === RATCHET)?.text ?? '{"commentFragments":0}';
  const { commentFragments }: { commentFragments: number } = JSON.parse(text);
  return commentFragments;
}

export const commentFragments: Check = {
  id: 'comment-fragments',
  rule: 'there are no more comment fragments than before',
  advice: 'write sentences: subject, verb, object, 25 words at most',
  find(tree) {
    const count = tree.sources.flatMap(fragmentsOf).length;
    const allowed = allowedIn(tree);
    if (count > allowed) {
      return [
        `${RATCHET} ${count} fragments, ${allowed} are allowed: report.js fragments lists them`,
      ];
    }
    return count < allowed ? [`${RATCHET} lower commentFragments from ${allowed} to ${count}`] : [];
  },
};

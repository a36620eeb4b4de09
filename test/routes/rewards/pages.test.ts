// Generated pages that people hand in, of which it is known who deserves the reward. None of the
// others is approved by itself, of the honest ones 95 % are.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sampled } from '../../harness/sample.ts';
import { createRandom, testSeed } from '../../harness/seed.ts';
import { openRewardBed, type RewardBed } from './bed.ts';

/** Whoever hands one of these in deserves the reward. */
const goodKinds: readonly string[] = ['honest', 'text'];
/** Nobody deserves it for these (`bench/sim/pages/page.ts`). */
const badKinds: readonly string[] = [
  ...['hidden', 'codeless', 'offtopic', 'ordering', 'commanding', 'breaking', 'inside', 'large'],
  ...['gone', 'binary'],
];
const pageCount = 300;
const sampledCount = 24;
const atOnce = 8;

let stage: RewardBed;
before(async () => {
  stage = await openRewardBed('it judges many pages');
});
after(() => stage?.bed.close());

interface Page {
  kind: string;
  seed: number;
}

function madePages(): Page[] {
  const random = createRandom(testSeed);
  return Array.from({ length: pageCount }, (_, at): Page => {
    const seed = 1_000 + at * 17 + Math.floor(random() * 17);
    // A half is honest.
    if (at % 2 === 0) return { kind: goodKinds[(at / 2) % goodKinds.length] ?? '', seed };
    return { kind: badKinds[Math.floor(random() * badKinds.length)] ?? '', seed };
  });
}

async function outcomeOf({ kind, seed }: Page): Promise<string> {
  const person = await stage.person();
  const begun = await stage.start(person, 'write');
  const url = stage.pageUrl(kind, seed, begun.challenge_code);
  const reply = await stage.handIn(person, begun, url);
  assert.equal(reply.status, 200, reply.text);
  // What cannot be fetched is tried for minutes.
  if (kind === 'gone') return 'waits';
  const judged = await stage.judged(person, begun);
  const { availableMicros } = await person.balance();
  assert.equal(availableMicros > 0n, judged.state === 'approved');
  return judged.state;
}

async function outcomesOf(pages: readonly Page[]): Promise<Map<Page, string>> {
  const outcomes = new Map<Page, string>();
  const left = [...pages];
  const hand = async () => {
    for (let page = left.shift(); page !== undefined; page = left.shift()) {
      outcomes.set(page, await outcomeOf(page));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, hand));
  return outcomes;
}

test(`of generated pages only good ones are approved (seed ${testSeed})`, async () => {
  const pages = sampled(madePages(), sampledCount);
  const isGood = ({ kind }: Page) => goodKinds.includes(kind);
  const outcomes = await outcomesOf(pages);
  const approved = (page: Page) => outcomes.get(page) === 'approved';
  const wrong = pages.filter((page) => !isGood(page) && approved(page));
  assert.deepEqual(wrong, [], `seed ${testSeed}`);
  const good = pages.filter(isGood);
  const missed = good.filter((page) => !approved(page));
  assert.ok(missed.length <= 0.05 * good.length, JSON.stringify(missed));
  // Behind them: the same texts with other codes, of others.
  const copies = good.slice(0, 4);
  const copied = await outcomesOf(copies.map((page) => ({ ...page })));
  assert.ok(
    [...copied.values()].every((state) => state === 'needs_review'),
    'no copy is approved',
  );
});

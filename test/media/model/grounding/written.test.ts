// Eighty answers as models write them: what no source bears out goes, the rest stays.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GroundingVerdict } from '../../../../media/model/grounding/contract.ts';
import { groundAnswer } from '../../../../media/model/grounding/ground.ts';
import { pages } from './pages.ts';
import { type WrittenKind, written } from './written.ts';

const keptShareMin = 0.95;

/** The answer as a model gives it. */
function rawOf(annotated: string): string {
  return annotated.replace(/\[!(\d+)\]/g, '[$1]').replace(/\{\{(.*?)\}\}/g, '$1');
}

/** Without what has to go. */
function wantedOf(annotated: string): string {
  const left = annotated.replace(/\[!\d+\]/g, '').replace(/\{\{.*?\}\}/g, '');
  return left.replaceAll('【', '[').replaceAll('】', ']').replace('[1, 2]', '[1][2]');
}

/** Marks by what stands before them, so that those of two texts can be compared. */
function marksOf(text: string): string[] {
  return Array.from(text.matchAll(/\[(\d+)\]/g), ({ 0: mark, index }) => {
    const before = text.slice(0, index).replace(/\[\d+\]/g, '');
    return `${mark} behind ${lettersOf(before)}`;
  });
}

function lettersOf(text: string): string {
  return text.replace(/[^\p{L}\p{M}\p{N}]/gu, '');
}

interface Judged {
  kind: WrittenKind;
  annotated: string;
  verdict: GroundingVerdict;
  lost: string[];
  left: string[];
}

const judged: Judged[] = written.map(([kind, topic, annotated]) => {
  const verdict = groundAnswer(rawOf(annotated), pages[topic]);
  const wanted = marksOf(wantedOf(annotated));
  const kept = marksOf(verdict.text);
  return {
    kind,
    annotated,
    verdict,
    lost: wanted.filter((mark) => !kept.includes(mark)),
    left: kept.filter((mark) => !wanted.includes(mark)),
  };
});

test('there are eighty answers, of every kind', () => {
  assert.equal(written.length, 80);
  assert.equal(new Set(written.map(([kind]) => kind)).size, 8);
});

test('every mark and address that no source bears out is taken out', () => {
  for (const { annotated, verdict, left } of judged) {
    assert.deepEqual(left, [], annotated);
    for (const [, address = ''] of annotated.matchAll(/\{\{(.*?)\}\}/g)) {
      const bare = address.replace(/^[(<]|[)>]$/g, '');
      assert.ok(!verdict.text.includes(bare), `${annotated}\n${verdict.text}`);
    }
  }
});

test('at least 95 of 100 good marks stay', () => {
  const wanted = judged.flatMap(({ annotated }) => marksOf(wantedOf(annotated))).length;
  const lost = judged.flatMap(({ annotated, lost: each }) => each.map(() => annotated));
  assert.ok(wanted > 70, String(wanted));
  assert.ok(lost.length <= wanted * (1 - keptShareMin), `of ${wanted}:\n${lost.join('\n')}`);
});

test('nothing but marks and addresses goes', () => {
  for (const { annotated, verdict } of judged) {
    const words = (text: string) => lettersOf(text.replace(/\[\d+\]/g, ''));
    assert.equal(words(verdict.text), words(wantedOf(annotated)));
  }
});

test('good answers are not asked for again, those without a supported mark are', () => {
  for (const { kind, annotated, verdict, lost } of judged) {
    if (kind === 'good' && lost.length === 0) assert.equal(verdict.isWanting, false, annotated);
    if (!/\[\d/.test(wantedOf(annotated))) assert.equal(verdict.isWanting, true, annotated);
  }
});

test('what was taken out is counted', () => {
  for (const { annotated, verdict, lost } of judged) {
    const gone = annotated.match(/\[!\d+\]|\{\{/g)?.length ?? 0;
    assert.equal(verdict.removed, gone + lost.length, annotated);
  }
});

test('a quote is a sentence of its source, and its citation says whose', () => {
  let count = 0;
  for (const [index, [, topic]] of written.entries()) {
    for (const { position, quote, url, title } of judged[index]?.verdict.citations ?? []) {
      const page = pages[topic][position - 1];
      assert.ok(page !== undefined);
      assert.ok(page.text.includes(quote) && quote !== '', quote);
      assert.deepEqual([url, title], [page.url, page.title]);
      count += 1;
    }
  }
  assert.ok(count > 70);
});

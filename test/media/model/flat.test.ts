// Texts in one piece: what they say, and what V8 keeps of how they came.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { flat, grown } from '../../../media/model/flat.ts';

const texts = 100;
const deltas = 5_000;

test('a text that grows says all that was added, whatever its pieces', () => {
  const pieces = ['', 'a', 'hé', '\ud83d', '\ude00', '語'.repeat(300), 'b'.repeat(5_000)];
  let text = '';
  let expected: string[] = [];
  for (let index = 0; index < 500; index += 1) {
    const piece = pieces[(index * index) % pieces.length] ?? '';
    text = grown(text, piece);
    expected = [...expected, piece];
    if (index % 50 === 0) assert.equal(text, expected.join(''));
  }
  assert.equal(text, expected.join(''));
  assert.equal(flat(text), text);
});

test('a text that grows by tokens keeps its characters and little else', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const read = Buffer.from('data: {"content":" tok"}');
  const liveBytes = () => {
    collect();
    return getHeapStatistics().used_heap_size;
  };
  const before = liveBytes();
  const grownTexts = new Array<string>(texts).fill('');
  for (let index = 0; index < deltas; index += 1) {
    for (let at = 0; at < texts; at += 1) {
      grownTexts[at] = grown(grownTexts[at] ?? '', read.toString('latin1', 18, 22));
    }
  }
  const perDelta = (liveBytes() - before) / (texts * deltas);
  assert.equal(grownTexts[0], ' tok'.repeat(deltas));
  // Of four characters each; as trees they take more than 50.
  assert.ok(perDelta < 25, `${perDelta.toFixed(1)} bytes a delta`);
});

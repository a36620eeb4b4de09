// Sentences of many scripts, and the marks that belong to them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sentencesOf } from '../../../../media/model/grounding/sentences.ts';
import { fc } from '../../../harness/properties.ts';

const split = (text: string) => sentencesOf(text).map((sentence) => sentence.text);

test('a full stop ends a sentence, but for abbreviations, initials, days and numbers', () => {
  for (const sentences of [
    ['It is blue.', 'Is it?', 'Yes!', 'So it is…', 'And so on.'],
    ['Dr. J. Smith of the U.S. came at 3.30 p.m. and left.', 'He was late.'],
    ['Am 3. Oktober 1990 war es so weit.', 'Seit 1990 ist es so.', 'Das kostet ca. 5 Euro.'],
    ['“It is.”', 'She said so.', '(He did not.)', 'Why?'],
    ['See version 1.2.3 of Node.js.', 'It costs 3.50.'],
  ]) {
    assert.deepEqual(split(sentences.join(' ')), sentences);
  }
});

test('scripts have full stops of their own', () => {
  assert.deepEqual(split('天空是蓝色的。草是绿色的！是吗？'), [
    '天空是蓝色的。',
    '草是绿色的！',
    '是吗？',
  ]);
  assert.deepEqual(split('「そうです。」と言った。はい。'), [
    '「そうです。」',
    'と言った。',
    'はい。',
  ]);
  assert.deepEqual(split('यह नीला है। यह हरा है॥'), ['यह नीला है।', 'यह हरा है॥']);
  assert.deepEqual(split('هل هو أزرق؟ نعم هو كذلك۔'), ['هل هو أزرق؟', 'نعم هو كذلك۔']);
  assert.deepEqual(split('Սա կապույտ է։ Այո։'), ['Սա կապույտ է։', 'Այո։']);
  assert.deepEqual(split('하늘은 파랗다. 풀은 푸르다.'), ['하늘은 파랗다.', '풀은 푸르다.']);
});

test('a mark behind the full stop belongs to the sentence before it', () => {
  assert.deepEqual(split('It is blue. [1] It is green.[2][3] Yes.'), [
    'It is blue. [1]',
    'It is green.[2][3]',
    'Yes.',
  ]);
  assert.deepEqual(split('天空。[1]草。[2]'), ['天空。[1]', '草。[2]']);
  assert.deepEqual(split('It is blue.\n[1]\nNext'), ['It is blue.\n[1]', 'Next']);
  assert.deepEqual(split('[1] says so. [2] says no.'), ['[1] says so.', '[2] says no.']);
});

test('a line ends a sentence, unless it only goes on in the next one', () => {
  assert.deepEqual(split('# Title\n\n- one\n- two\n1. three'), [
    '# Title',
    '- one',
    '- two',
    '1. three',
  ]);
  assert.deepEqual(split('It is\nblue. So'), ['It is\nblue.', 'So']);
});

test('sentences are in order, apart, and together all that is no blank', () => {
  const parts = fc.constantFrom('a', 'B', '.', '. ', '。', '\n', '[1]', ' ', '1', '"', '😀', '?');
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 40 }), (all) => {
      const text = all.join('');
      let from = 0;
      let rest = '';
      for (const sentence of sentencesOf(text)) {
        assert.ok(sentence.start >= from && sentence.end > sentence.start);
        assert.equal(text.slice(sentence.start, sentence.end), sentence.text);
        rest += text.slice(from, sentence.start);
        from = sentence.end;
      }
      assert.equal((rest + text.slice(from)).trim(), '');
    }),
    { numRuns: 1_000 },
  );
});

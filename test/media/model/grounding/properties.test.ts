// What holds for any text and any sources: no mark and no address is left that nobody gave. Offsets
// are right, and the work is bounded.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  GroundingSource,
  GroundingVerdict,
} from '../../../../media/model/grounding/contract.ts';
import { groundAnswer } from '../../../../media/model/grounding/ground.ts';
import { fc } from '../../../harness/properties.ts';

const addresses = [
  'https://evil.example/a?b=c',
  'HTTP://Evil.example',
  'www.evil.org/path',
  'evil.com',
  '_evil.com_',
  'pay.evil.io/now',
  'someone@evil.net',
  'javascript:alert(1)',
  '[here](https://evil.example)',
  '![](//evil.example/x.png)',
  '[a](data:text/html,x)',
  '<https://evil.example>',
];
const pieces = [
  'Oslo',
  ' is ',
  'the capital',
  ' of Norway',
  '. ',
  '! ',
  '。',
  '北京',
  '是首都',
  ' 709,037',
  ' 12.5 %',
  '\n',
  '\n- ',
  '😀',
  'é',
  '[',
  ']',
  '(',
  ')',
  '1',
  '9',
  ' ',
  '[1]',
  '[2]',
  '[3]',
  '[9]',
  '[1, 7]',
  '【2】',
  '[0]',
  '[12]',
  '[12345678901]',
  'https://',
  '.com',
  '\u200b',
  '\u202e',
  '@',
  '//',
  '_',
  '-',
  ...addresses,
];

const sources: GroundingSource[] = [
  {
    title: 'Oslo',
    url: 'https://good.example/oslo',
    text: 'Oslo is the capital of Norway. It has 709,037 people 😀. See good.org/more.',
  },
  { title: '北京', url: 'https://good.example/北京', text: '北京是首都。人口2189万。' },
];
const texts = fc
  .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 4 })), { maxLength: 60 })
  .map((parts) => parts.join(''));

function assertOffsets(verdict: GroundingVerdict): void {
  const points = Array.from(verdict.text);
  for (const { start, end, position } of verdict.citations) {
    assert.equal(points.slice(start, end).join(''), `[${position}]`);
  }
}

/** The patterns are the test's own: those of the product may be wrong. */
function strangersIn(text: string): string[] {
  const hosts = text.match(/\bwww\.\S+|\bevil\.(com|org|net|io)(?![a-z0-9]|[-_][a-z0-9])/gi);
  const schemes = text.match(/[a-z][a-z0-9+.-]*:\/\/[^\s[\]]+/gi);
  const links = text.match(/\[[^[\]]*\]\((?!https:\/\/good)[^\s()]*(?:\/\/|:)[^\s()]*\)/g);
  const found = [hosts, schemes, links].flatMap((each) => each ?? []);
  return found.filter((each) => !/good\.(example|org)/.test(each));
}

test('no unknown mark and no unknown address is left, and offsets are those of the text', () => {
  fc.assert(
    fc.property(texts, (text) => {
      const verdict = groundAnswer(text, sources);
      assertOffsets(verdict);
      const marks = verdict.text.match(/\[\d+\]/g) ?? [];
      assert.deepEqual(
        marks,
        verdict.citations.map(({ position }) => `[${position}]`),
      );
      for (const { position } of verdict.citations) assert.ok(position >= 1 && position <= 2);
      assert.deepEqual(strangersIn(verdict.text), [], verdict.text);
      assert.equal(verdict.text, verdict.text.trim());
    }),
    { numRuns: 3_000 },
  );
});

test('an address that a source has is kept, in whichever way it is written', () => {
  for (const address of [
    'https://good.example/oslo',
    'http://good.example/oslo/',
    'https://www.good.example/oslo',
    'good.example/oslo',
    'good.example',
    'https://good.org/more',
    '[more](https://good.example/oslo)',
    '<https://good.example/oslo>',
    'https://good.example/%E5%8C%97%E4%BA%AC',
    'https://good.example/北京',
  ]) {
    const verdict = groundAnswer(`Oslo is the capital [1]: ${address}.`, sources);
    assert.equal(verdict.text, `Oslo is the capital [1]: ${address}.`);
    assert.equal(verdict.removed, 0);
  }
});

test('an address goes that differs in host, path, query, port or user', () => {
  for (const address of [
    'https://good.example/oslo2',
    'https://good.example/oslo?ref=1',
    'https://good.example:8443/oslo',
    'https://good.example@evil.example/oslo',
    'https://good.example.evil.example/oslo',
    'ftp://good.example/oslo',
    'https://good.example/',
    'bad.example',
    'mailto:me@good.example',
  ]) {
    const verdict = groundAnswer(`Oslo is the capital [1] ${address}.`, sources);
    assert.equal(verdict.text, 'Oslo is the capital [1].', address);
    assert.equal(verdict.removed, 1);
  }
});

test('names with a full stop are no addresses', () => {
  const text =
    'Node.js, e.g. README.md of v1.2.3, costs 3.50 at 10 a.m. in the U.S. today.It works.';
  assert.equal(groundAnswer(text, sources).text, text);
});

/** The least of several, in time of the processor: others use the machine, too. */
function leastMs(run: () => void): number {
  const times = Array.from({ length: 3 }, () => {
    const begun = process.cpuUsage();
    run();
    return process.cpuUsage(begun).user / 1_000;
  });
  return Math.min(...times);
}

const long = (unit: string, characters: number) =>
  unit.repeat(Math.ceil(characters / unit.length)).slice(0, characters);

test('an answer of 1,024 tokens and eight long sources take some milliseconds', () => {
  const page = 'The city of Oslo had 709,037 people in 2022, the wharf of Bergen 1,200 visitors. ';
  const eight = (text: string) =>
    Array.from({ length: 8 }, (_, index) => ({
      title: 'A page',
      url: `https://good.example/${index}`,
      text: long(text, 4_000),
    }));
  const latin = eight(page);
  const chinese = eight('北京市是中华人民共和国的首都，位于华北平原的北部。');
  const answer = long(
    'Oslo had 709,037 people in 2022 [1], and Bergen has a wharf [3][4]. ',
    4_096,
  );
  const dense = long('北京是中国的首都[1]，位于华北平原[2][3]。', 1_500);
  assert.ok(leastMs(() => groundAnswer(answer, latin)) < 40);
  assert.ok(leastMs(() => groundAnswer(dense, chinese)) < 60);
});

test('the work grows as the text does, whatever the text is', () => {
  const units = [
    '[1]',
    '[',
    '[[1]',
    'a.',
    '. ',
    'https://',
    '[a](',
    ')',
    '(',
    ' ',
    '\n',
    '1,',
    '1 000 ',
    '@a.',
    'a@',
    '北',
    '한',
    '[1] a ',
    'Oslo [1] ',
    '"',
    'https://a.b)))',
    '[1,',
    '【1†',
    '.[1]',
    'é\u0301',
    'www.',
  ];
  const given = units.map((unit) => ({ title: '', url: '', text: long(unit, 4_000) }));
  for (const [index, unit] of units.entries()) {
    const around = [0, 1, 2, 3, 4, 5, 6, 7].map((by) => given[(index + by) % given.length]);
    const eight = around.filter((each) => each !== undefined);
    const short = leastMs(() => groundAnswer(long(unit, 4_000), eight));
    const larger = leastMs(() => groundAnswer(long(unit, 16_000), eight));
    assert.ok(larger < 10 * short + 20, `${JSON.stringify(unit)}: ${short} and ${larger} ms`);
  }
});

// Sources as a model reads them: within their bound, and unable to leave their lines.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quotable, quoteSources } from '../../../../media/model/grounding/quoting.ts';
import { estimateTextTokens } from '../../../../media/model/tokens.ts';
import { fc } from '../../../harness/properties.ts';

const strange = fc
  .array(
    fc.oneof(
      fc.constantFrom('\n', '\r\n', '\u2028', '\u0085', '\n\n[2] ', '\nQuestion: ', '[1]', '【2】'),
      fc.constantFrom('"', '\\', '\u202e', '😀', '北京', 'Sources:', ' '),
      fc.string({ maxLength: 20 }),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));

test('whatever a source says, its block is three lines with one mark', () => {
  const source = fc.record({ title: strange, url: fc.webUrl(), text: strange });
  fc.assert(
    fc.property(fc.array(source, { minLength: 1, maxLength: 8 }), (sources) => {
      const lines = quoteSources(quotable(sources, 6_000)).split(/[\n\r\u2028\u2029\u0085\v\f]/);
      assert.equal(lines.length, 1 + 4 * sources.length);
      for (const [index, line] of lines.slice(1).entries()) {
        const number = Math.floor(index / 4) + 1;
        if (index % 4 === 0) assert.equal(line, '');
        if (index % 4 === 1) assert.ok(line.startsWith(`[${number}] `));
        if (index % 4 === 3) assert.equal(typeof JSON.parse(line), 'string');
        const marks = line.match(/\[\d+\]/g) ?? [];
        assert.equal(marks.length, index % 4 === 1 ? 1 : 0, line);
      }
    }),
  );
});

test('sources fit into their tokens, and short ones leave theirs to the others', () => {
  const text = (unit: string, count: number) => unit.repeat(count);
  for (const unit of ['word ', '北京市', '"\\', '[1] ', '😀']) {
    const sources = [200, 10, 4_000, 4_000, 1, 4_000, 4_000, 4_000].map((count, index) => ({
      title: `Page ${index}`,
      url: `https://pages.example/${index}`,
      text: text(unit, count),
    }));
    const given = quotable(sources, 6_000);
    const tokens = estimateTextTokens(quoteSources(given));
    assert.ok(tokens <= 6_000 && tokens > 5_500, `${unit}: ${tokens}`);
    assert.equal(given[1]?.text, text(unit, 10).trim());
    assert.ok(given.every((each) => each.text !== '' && !/[\ud800-\udbff]$/.test(each.text)));
  }
});

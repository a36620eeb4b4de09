// Numbers that are the same however they are written, and those that are not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groundAnswer } from '../../../../media/model/grounding/ground.ts';

/** Whether an answer with this number stands on a source with that one. */
function stands(said: string, source: string): boolean {
  const given = [{ title: '', url: 'https://a.example/', text: `The value is ${source} there.` }];
  return groundAnswer(`The value is ${said} there [1].`, given).citations.length === 1;
}

test('the same number is found in whichever way it is written', () => {
  for (const [said, source] of [
    ['1,000', '1.000'],
    ['1,000', '1000'],
    ['1000', '1 000'],
    ['1 000 000', '1,000,000'],
    ['1’234’567', '1.234.567'],
    ['12,34,567', '1234567'],
    ['1,234.50', '1.234,5'],
    ['3,50', '3.5'],
    ['12 %', '12%'],
    ['12 percent', '12 %'],
    ['$1.2 million', '1,200,000 dollars'],
    ['1200000', '1,2 Mio.'],
    ['2189万', '21,890,000'],
    ['3.5 bn', '3,500,000,000'],
    ['２０２４', '2024'],
    ['١٢٣', '123'],
    ['2026-10-03', '3 October 2026'],
    ['2026-10-03', 'le 3 octobre 2026'],
    ['03.10.2026', '2026-10-03'],
    ['10/03/2026', '3 October 2026'],
    ['12 May 2024', '2024-05-12'],
    ['2019–2023', '2019 to 2023'],
    ['1990s', '1990'],
    ['9', 'nine'],
  ] as const) {
    assert.ok(stands(said, source), `${said} in ${source}`);
  }
});

test('another number is another number', () => {
  for (const [said, source] of [
    ['1,000', '100'],
    ['1,000', '1'],
    ['1000', '10 000'],
    ['1.5', '15'],
    ['12.5', '12'],
    ['12', '12.5'],
    ['12', '1.2'],
    ['234', '1,234'],
    ['100 100', '10 100'],
    ['0.05', '0.5'],
    ['1.2 million', '1.3 million'],
    ['12 million', '1.2 million'],
    ['2026-11-03', '3 October 2026'],
    ['2026-10-13', '3 October 2026'],
    ['03.12.2026', '2026-10-03'],
    ['2025', '2026'],
  ] as const) {
    assert.ok(!stands(said, source), `${said} is not in ${source}`);
  }
});

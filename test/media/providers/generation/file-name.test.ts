// Names of files for providers that tell a file's kind by the end of its name.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileName } from '../../../../media/providers/generation/file-name.ts';

const pdf = 'data:application/pdf;base64,JVBERi0=';
const text = 'data:text/plain;charset=utf-8;base64,aGk=';

test('a name ends as the kind of its file does', () => {
  const word = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
  for (const [name, url, expected] of [
    [null, pdf, 'file.pdf'],
    ['', pdf, 'file.pdf'],
    ['Report', pdf, 'Report.pdf'],
    ['Report 2.1', pdf, 'Report 2.1.pdf'],
    ['Node.js', pdf, 'Node.js.pdf'],
    ['Report.PDF', pdf, 'Report.PDF'],
    ['Report', 'DATA: Application/PDF ;x=y;base64,AA==', 'Report.pdf'],
    [null, text, 'file.txt'],
    ['Notes of 12.3', text, 'Notes of 12.3.txt'],
    ['main.py', text, 'main.py'],
    ['table', 'data:text/csv,1', 'table.csv'],
    ['letter', `data:${word};base64,AA==`, 'letter.docx'],
  ] as const) {
    assert.equal(fileName(name, url), expected);
  }
});

test('a kind that nobody knows keeps the name that was given', () => {
  assert.equal(fileName('a.zig', 'data:application/zig;base64,AA=='), 'a.zig');
  assert.equal(fileName(null, 'data:;base64,AA=='), 'file');
});

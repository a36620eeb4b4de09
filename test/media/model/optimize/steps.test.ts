// The optimizer's steps one by one, on the texts that they are for, and on those that only look so.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addAsks, createAsks } from '../../../../media/model/optimize/asks.ts';
import { withoutBlobs } from '../../../../media/model/optimize/blobs.ts';
import { sealedSegments } from '../../../../media/model/optimize/boundary.ts';
import {
  createLibrary,
  wholeReference,
  withoutKnownRuns,
} from '../../../../media/model/optimize/duplicates.ts';
import { withoutEscapes } from '../../../../media/model/optimize/escapes.ts';
import { extracted } from '../../../../media/model/optimize/extraction.ts';
import { cutJson, minifiedJson } from '../../../../media/model/optimize/json-text.ts';
import { kindOf, readsFile, type TextKind } from '../../../../media/model/optimize/kind.ts';
import { withoutMarkup } from '../../../../media/model/optimize/markup.ts';
import { type Passage, passageOf } from '../../../../media/model/optimize/passage.ts';
import { withoutProgress, withoutRepeatedLines } from '../../../../media/model/optimize/repeats.ts';
import { settingsOf } from '../../../../media/model/optimize/settings.ts';
import { scanTerms } from '../../../../media/model/optimize/terms.ts';
import { unitsOf } from '../../../../media/model/optimize/units.ts';
import { withoutPadding } from '../../../../media/model/optimize/whitespace.ts';
import type { Message } from '../../../../media/model/request.ts';

function through(step: (passage: Passage) => Passage, text: string): string {
  return step(passageOf(text)).lines.join('\n');
}

test('a terminal’s escapes go, and what a progress bar has overwritten', () => {
  assert.equal(through(withoutEscapes, '\u001b[1;32mok\u001b[0m 3\u001b[K'), 'ok 3');
  assert.equal(through(withoutEscapes, '\u001b]0;title\u0007a\u001b]8;;x\u001b\\b'), 'ab');
  assert.equal(through(withoutEscapes, '\u001b(Bplain\u001b[?25l'), 'plain');
  assert.equal(through(withoutEscapes, 'get 1%\rget 50%\rget 100%\r\nnext\r'), 'get 100%\nnext');
  const fenced = '```\n\u001b[1mcode\r\n```';
  assert.equal(through(withoutEscapes, fenced), fenced);
  const plain = passageOf('nothing here');
  assert.equal(withoutEscapes(plain), plain, 'the same object when nothing changes');
});

test('identical lines become one and a count, different ones stay', () => {
  const beat = 'heartbeat: nothing to report today';
  const text = ['start', ...Array<string>(9).fill(beat), 'end'].join('\n');
  const short = `start\n${beat}\n[the line above comes 8 more times]\nend`;
  assert.equal(through(withoutRepeatedLines, text), short);
  assert.equal(through(withoutRepeatedLines, `${beat}\n${beat}`), `${beat}\n${beat}`);
  assert.equal(through(withoutRepeatedLines, 'x\nx\nx\nx'), 'x\nx\nx\nx', 'a note would be longer');
  assert.equal(through(withoutRepeatedLines, `\`\`\`\n${text}\n\`\`\``), `\`\`\`\n${text}\n\`\`\``);
});

test('progress keeps its last line; figures of different things are no progress', () => {
  const pull = Array.from({ length: 10 }, (_, step) => `pull abc ${step * 10}% ${step}.1MB/s`);
  const short = '[9 earlier lines of this progress]\npull abc 90% 9.1MB/s';
  assert.equal(through(withoutProgress, pull.join('\n')), short);
  for (const lines of [
    ['shard1 10%', 'shard2 20%', 'shard3 30%', 'shard4 40%', 'shard5 50%'],
    ['cpu 90%', 'cpu 40%', 'cpu 80%', 'cpu 10%', 'cpu 70%'],
    ['a.ts 10% 1', 'b.ts 20% 1', 'c.ts 30% 1', 'd.ts 40% 1'],
  ]) {
    assert.equal(through(withoutProgress, lines.join('\n')), lines.join('\n'));
  }
});

test('base64 goes, words and hashes and rulers stay', () => {
  const blob = 'iVBORw0KGgoAAAANSUhEUg'.repeat(100);
  const step = (passage: Passage): Passage => withoutBlobs(passage, 1_024);
  const short = through(step, `before "${blob}" after "${blob}=="`);
  assert.match(short, /^before "iVBORw0KGgoAAAANSUhEUgiV\[… 2176 more of base64\]" after "iVBOR/);
  for (const text of [
    'a'.repeat(5_000),
    '-'.repeat(5_000),
    'aB3 '.repeat(2_000),
    blob.slice(0, 1_000),
  ]) {
    assert.equal(through(step, text), text);
  }
});

test('space that says nothing goes, indentation and code stay', () => {
  assert.equal(through(withoutPadding, 'a      b  \n\n\n\nc\t'), 'a  b\n\nc');
  const kept = ['    indented   code', '\tx    y', "const a = 'x    y';", '  - item', 'a  b'];
  assert.equal(through(withoutPadding, kept.join('\n')), kept.join('\n'));
  const fenced = '```\na      b  \n\n\n\n```';
  assert.equal(through(withoutPadding, `${fenced}\n\n\n\nx`), `${fenced}\n\nx`);
});

test('a page loses what only a browser reads, and keeps data', () => {
  const data = '<script type="application/ld+json">{"price":12}</script>';
  const page = `<!doctype html><!-- c --><script>run()</script>${data}<STYLE>p{}</STYLE><p>Hi</p>`;
  assert.equal(withoutMarkup(page), `<!doctype html>${data}<p>Hi</p>`);
  const mixed = `${page}\n~~~\n${page}\n~~~`;
  assert.equal(withoutMarkup(mixed), mixed, 'fenced code is kept byte for byte');
  assert.equal(withoutMarkup('text about <script>x</script>'), 'text about <script>x</script>');
  assert.equal(withoutMarkup('<html><scripted>x</script>'), '<html><scripted>x</script>');
});

test('JSON is made smaller without touching a value', () => {
  const text = '{\n  "a b": [1.50e7,\t123456789012345678901, "x \\" , y\\\\"],\n "a b": { }\r\n}\n';
  const small = '{"a b":[1.50e7,123456789012345678901,"x \\" , y\\\\"],"a b":{}}';
  assert.equal(minifiedJson(text), small);
  assert.equal(minifiedJson(small), small);
});

test('JSON is cut at the elements of its long lists', () => {
  const items = Array.from({ length: 20 }, (_, index) => `{"id":${index},"tags":[1,2]}`);
  const text = `{"data":[${items.join(',')}],"more":true}`;
  const { starts } = cutJson(text, 12);
  const units = starts.map((start, index) => text.slice(start, starts[index + 1]));
  assert.equal(units.join(''), text);
  assert.deepEqual(units, [
    '{"data":[',
    ...items.map((item, at) => item + (at < 19 ? ',' : '')),
    '],"more":true}',
  ]);
});

test('tells source, diffs, logs and prose apart; what was read from a file is source', () => {
  const kind = (text: string): TextKind => kindOf(text, text.split('\n'));
  assert.equal(kind('{"a": 1}'), 'json');
  assert.equal(
    kind('     1\timport x from "y";\n     2\tconst a = f(\n     3\t  b,\n     4\t);'),
    'source',
  );
  assert.equal(kind('diff --git a/x b/x\n@@ -1,2 +1,2 @@\n a'), 'diff');
  assert.equal(kind('12:01 INFO started\n12:02 INFO stopped'), 'lines');
  assert.equal(
    kind(`${'Long sentences follow. '.repeat(30)}\n\n${'And more. '.repeat(40)}`),
    'prose',
  );
  assert.ok(readsFile({ name: 'read_file', arguments: '{"path":"a.md"}' }));
  assert.ok(readsFile({ name: 'bash', arguments: '{"command":"cat src/a.yaml"}' }));
  assert.ok(!readsFile({ name: 'read_page', arguments: '{"url":"https://example.com"}' }));
  assert.ok(!readsFile({ name: 'bash', arguments: '{"command":"npm test"}' }));
});

test('a text that stood above becomes a reference; the first one stays', () => {
  const library = createLibrary();
  const text = 'some line of output\n'.repeat(20);
  assert.equal(wholeReference(library, text, 'the earlier result of a'), null);
  const reference = wholeReference(library, text, 'the earlier result of b');
  assert.equal(reference, '[unchanged: the same 21 lines as the earlier result of a]');
  assert.equal(wholeReference(library, 'short', 'a'), null);
});

test('a pasted block that stood above becomes a reference, whole blocks only when balanced', () => {
  const block = Array.from(
    { length: 10 },
    (_, line) => `line ${line} of a long pasted report, as it was`,
  );
  const library = createLibrary();
  const balanced = settingsOf(
    { profile: 'general', mode: 'balanced', allowLossyContext: false },
    0,
  );
  const paste = passageOf(['See:', '', ...block, '', 'Thanks.'].join('\n'));
  assert.equal(withoutKnownRuns(paste, library, 'the first', balanced), paste);
  const again = passageOf(['Again:', '', ...block, '', 'Why?'].join('\n'));
  const short = withoutKnownRuns(again, library, 'the second', balanced).lines;
  assert.equal(short.length, 3, 'with the blank lines around it');
  assert.match(short[1] ?? '', /^\[… the same 12 lines as in the first, from "line 0 /);
  assert.equal(short.at(-1), 'Why?');
  const part = passageOf(['x', ...block.slice(2), 'y'].join('\n'));
  assert.equal(withoutKnownRuns(part, library, 'the third', balanced), part);
  const aggressive = { ...balanced, partialRuns: true, runCharactersMin: 240 };
  const other = passageOf(['v', ...block.slice(2), 'w'].join('\n'));
  const cut = withoutKnownRuns(other, library, 'the fourth', aggressive).lines;
  assert.deepEqual([cut.length, cut[0], cut[2]], [3, 'v', 'w']);
});

test('terms meet over inflection, case, separators and hyphens', () => {
  const terms = (text: string): number[] => {
    const list = { hashes: [], weights: [] };
    scanTerms(text, 0, text.length, list);
    return list.hashes;
  };
  const pairs = [
    ['retries', 'Retry'],
    ['files', 'file'],
    ['migrations', 'migrated'],
    ['ordersQueue', 'orders_queue'],
    ['7,421', '7421'],
    ['48.213', '48213'],
    ['Ошибка', 'ошибка'],
    ['Übung', 'übung'],
  ];
  for (const [left = '', right = ''] of pairs) assert.deepEqual(terms(left), terms(right), left);
  assert.notDeepEqual(terms('4821'), terms('4822'));
  assert.equal(terms('貯水池').length, 2);
});

test('extraction keeps what was asked, failures, head and tail, and counts the rest', () => {
  const lines = Array.from(
    { length: 300 },
    (_, line) => `12:00:${line} worker-${line} drained its queue in time`,
  );
  lines[120] = '12:02:00 pipeline stopped: connection refused';
  lines[200] = '12:03:20 lisbon listens on port 48213';
  lines[201] = '    and its standby on port 48214';
  const text = lines.join('\n');
  const { extraction } = settingsOf(
    { profile: 'code', mode: 'aggressive', allowLossyContext: true },
    0,
  );
  assert.ok(extraction !== null);
  const asks = createAsks();
  addAsks(asks, 'Which port is the Lisbon one on? And "worker-250 drained"?', 'all');
  const units = unitsOf(text, 'lines', passageOf(text));
  const short = extracted(text, units, [{ asks, share: 0.1, least: 6 }], extraction);
  for (const line of [0, 4, 120, 200, 201, 250, 299])
    assert.ok(short.includes(lines[line] ?? '-'), String(line));
  assert.ok(!short.includes('worker-60 '));
  const left = [...short.matchAll(/\[… (\d+) lines left out …\]/g)].map(([, count]) =>
    Number(count),
  );
  const kept = short.split('\n').length - left.length;
  assert.equal(
    left.reduce((sum, count) => sum + count, kept),
    300,
  );
  assert.equal(extracted(text, units, [], { ...extraction, charactersMin: 1e6 }), text);
});

test('a boundary is the first user turn behind enough bytes, whatever follows', () => {
  const plain = { toolCalls: [], toolCallId: null };
  const say = (role: Message['role'], characters: number): Message => ({
    role,
    parts: [{ type: 'text', text: 'x'.repeat(characters) }],
    ...plain,
  });
  const messages = [
    say('system', 100),
    say('user', 600),
    say('assistant', 600),
    say('user', 10),
    say('developer', 10),
    say('user', 10),
    say('assistant', 3_000),
    say('user', 10),
  ];
  assert.deepEqual(sealedSegments(messages, 1_000), [
    { from: 0, to: 3 },
    { from: 3, to: 7 },
  ]);
  assert.deepEqual(sealedSegments(messages.slice(0, 7), 1_000), [{ from: 0, to: 3 }]);
  assert.deepEqual(sealedSegments(messages.slice(0, 3), 1_000), []);
});

test('results of tools that stand in a user turn are of that turn', () => {
  const say = (role: Message['role'], characters: number): Message => ({
    role,
    parts: [{ type: 'text', text: 'x'.repeat(characters) }],
    toolCalls: [],
    toolCallId: null,
  });
  const before = [say('user', 600), say('assistant', 600)];
  const results = [say('tool', 3_000), say('user', 10), say('tool', 3_000), say('user', 10)];
  const messages = [...before, ...results];
  assert.deepEqual(sealedSegments([...before, ...results.slice(0, 1)], 1_000), []);
  for (let length = 4; length <= messages.length; length += 1) {
    assert.deepEqual(sealedSegments(messages.slice(0, length), 1_000), [{ from: 0, to: 2 }]);
  }
  const after = [say('assistant', 10), say('user', 10)];
  assert.deepEqual(sealedSegments([...messages, ...after], 1_000).at(-1), { from: 2, to: 7 });
});

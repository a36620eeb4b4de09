// Style is a test: every check of `test/tidy/checks.ts`, applied to this repository.
// They read text, not syntax trees: the formatter has made the text regular enough for that.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { checks } from './tidy/checks.ts';
import { readTree } from './tidy/tree.ts';

const tree = readTree(fileURLToPath(new URL('../../', import.meta.url)));

for (const { rule, advice, find } of checks) {
  test(rule, () => {
    const findings = find(tree);
    assert.ok(findings.length === 0, `${advice}\n  ${findings.join('\n  ')}`);
  });
}

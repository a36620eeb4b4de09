// The catalog that the README shows is one that a start takes.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';
import { catalogDocumentSchema } from '../../../actors/catalog/document.ts';
import { documentFaults } from '../../../actors/catalog/faults.ts';

test('the catalog of the README has the form of one and no faults', () => {
  const path = fileURLToPath(new URL('../../../../README.md', import.meta.url));
  const [, shown] = /```json\n([\s\S]*?)```/.exec(readFileSync(path, 'utf8')) ?? [];
  assert.ok(shown !== undefined);
  // The key is left out as `…`, which no header may hold.
  const document: unknown = JSON.parse(shown.replace('sk-…', 'sk-secret'));
  assert.deepEqual(documentFaults(v.parse(catalogDocumentSchema, document)), []);
});

// What is fitted is told in one table: in the API reference, and beside the code.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fittingTable } from '../../../../../media/providers/generation/fitting/reference.ts';
import { openApiText } from '../../../../../routes/openapi/document.ts';
import { routes } from '../../../../../routes/table.ts';

test('the README of the providers and the API reference have the same table', async () => {
  const readme = await readFile('media/providers/README.md', 'utf8');
  assert.ok(readme.includes(fittingTable), fittingTable);
  const { tags } = JSON.parse(openApiText('model', routes, 'http://localhost')) as {
    tags: { name: string; description: string }[];
  };
  const described = tags.find(({ name }) => name === 'Generation')?.description;
  assert.ok(described?.includes(fittingTable));
});

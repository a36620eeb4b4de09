// The version of the package, read once from its manifest.
import { readFileSync } from 'node:fs';
import { sourceFile } from './files.ts';

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(sourceFile('package.json'), 'utf8'));
  const found = (manifest as { version?: unknown }).version;
  return typeof found === 'string' ? found : '0.0.0';
}

export const version = readVersion();

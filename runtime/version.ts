// The version of the package, read once from its manifest.
import { readFileSync } from 'node:fs';

function readVersion(): string {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  const found = (manifest as { version?: unknown }).version;
  return typeof found === 'string' ? found : '0.0.0';
}

export const version = readVersion();

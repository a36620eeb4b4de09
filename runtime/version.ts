// The version of the package, read once from its manifest, and the order of versions.
import { readFileSync } from 'node:fs';
import { sourceFile } from './files.ts';

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(sourceFile('package.json'), 'utf8'));
  const found = (manifest as { version?: unknown }).version;
  return typeof found === 'string' ? found : '0.0.0';
}

export const version = readVersion();

const pattern = /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(-[0-9A-Za-z.-]+)?$/;

/** Such as `1.2.0`, or `1.2.0-rc.1` for a candidate. */
export function isVersion(text: string): boolean {
  return pattern.test(text);
}

/**
 * Whether `left` comes before `right` (Semantic Versioning, 11). A candidate is before its release;
 * two candidates of one release are taken as the same.
 */
export function isVersionBelow(left: string, right: string): boolean {
  const [before, after] = [partsOf(left), partsOf(right)];
  const at = before.findIndex((part, place) => part !== after[place]);
  return at !== -1 && (before[at] ?? 0) < (after[at] ?? 0);
}

/** The fourth: 1 of a release, 0 of a candidate. */
function partsOf(text: string): number[] {
  const [, major, minor, patch, candidate] = pattern.exec(text) ?? [];
  return [
    Number(major ?? 0),
    Number(minor ?? 0),
    Number(patch ?? 0),
    candidate === undefined ? 1 : 0,
  ];
}

// The index of nouns in ARCHITECTURE.md names every folder and every noun of the database.
import { type Check, foldersOf } from './check.ts';
import { pathsIn } from './paths.ts';
import type { TextFile } from './tree.ts';

const DOCUMENT = 'ARCHITECTURE.md';
const HEADING = /^## Index of nouns\s*$/;
/** Folders of these depths are nouns. */
const NOUN = /^(?:(?:actors|routes|runtime)\/[^/]+|media\/[^/]+(?:\/[^/]+)?)$/;
const DATABASE_NOUN = /^db\/[^/]+\.ts$/;

function sectionOf(document: TextFile | undefined): string[] | null {
  const lines = document?.lines ?? [];
  const first = lines.findIndex((line) => HEADING.test(line));
  if (first === -1) return null;
  const rest = lines.slice(first + 1);
  const end = rest.findIndex((line) => /^##? /.test(line));
  return end === -1 ? rest : rest.slice(0, end);
}

export const nouns: Check = {
  id: 'nouns',
  rule: `the index of nouns in ${DOCUMENT} names every noun`,
  advice: 'give each a line with its path in the section "## Index of nouns"',
  find({ paths, texts }) {
    const section = sectionOf(texts.find(({ path }) => path === DOCUMENT));
    if (section === null) return [`${DOCUMENT} has no section "## Index of nouns"`];
    const named = new Set(
      section.flatMap(pathsIn).map((path) => path.replace(/\/+$/, '').replace(/\.ts$/, '')),
    );
    const folders = [...foldersOf(paths)].filter((folder) => NOUN.test(folder));
    const files = paths.filter((path) => DATABASE_NOUN.test(path));
    return [...folders, ...files].filter((path) => !named.has(path.replace(/\.ts$/, ''))).sort();
  },
};

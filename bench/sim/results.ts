// Search results made from the query alone: the same query finds the same pages, in every family
// that searches.

export interface SearchResult {
  title: string;
  link: string;
  domain: string;
  snippet: string;
  /** Days before the fixed day on which all simulated pages were found. */
  ageDays: number;
  /** 32 bits that differ from result to result. */
  hash: number;
}

const sites = ['almanac', 'archive', 'bulletin', 'compendium', 'gazette', 'journal', 'reference'];
const subjects = [
  'An introduction to',
  'The history of',
  'Questions about',
  'A guide to',
  'Notes on',
];
const foundOnMs = Date.UTC(2026, 0, 15);

/** Result `position` (from 1) for a query. */
export function resultOf(query: string, position: number): SearchResult {
  const topic = query.trim() === '' ? 'nothing' : query.trim();
  const hash = hashOf(`${position}:${topic.toLowerCase()}`);
  const domain = `www.${sites[hash % sites.length]}-${(hash >>> 8) % 90}.example.com`;
  const slug = topic
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 48);
  return {
    title: `${subjects[(hash >>> 4) % subjects.length]} ${topic}`,
    link: `https://${domain}/${slug === '' ? 'page' : slug}/${position}`,
    domain,
    snippet: `Simulated page ${position} says ${hash % 1000} things about ${topic}.`,
    ageDays: hash % 900,
    hash,
  };
}

/** Midnight (UTC) of the day on which a result was published. */
export function dateMsOf({ ageDays }: SearchResult): number {
  return foundOnMs - ageDays * 86_400_000;
}

const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** `Jan 3, 2026`: when a result was published. By hand: Intl takes longer than all the rest. */
export function dateOf(result: SearchResult): string {
  const date = new Date(dateMsOf(result));
  return `${months[date.getUTCMonth()]} ${date.getUTCDate()}, ${date.getUTCFullYear()}`;
}

/** FNV-1a, 32 bits, unsigned. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}

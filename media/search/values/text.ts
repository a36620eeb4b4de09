// Makes text that may be shown of a provider's words: entities are decoded, tags and characters
// that nobody sees are left out, blanks are one. Any text costs little.
import { withoutInvisible } from '../../web/invisible.ts';
import { decodeEntities } from './entities.ts';

/** Markup and entities are longer than what they show; what is behind so much is not looked at. */
const unitsPerCharacter = 8;
/** Escaped twice or thrice is seen; what is a tag after that loses its bracket. */
const roundsMax = 3;
const opensTag = /<(?=[a-z/!?])/i;
const oddBlank = /[^\S ]| {2}/;
/** Characters that are all seen: what most texts are made of. */
const plain =
  /^[ -~\u00a1-\u00ac\u00ae-\u02ff\u0400-\u0481\u2010-\u2027\u20ac\u3040-\u312f\u3190-\u9fff]*$/;
/** Nothing is written between them and the words beside them. */
const inline = new Set([
  ...['a', 'abbr', 'b', 'bdi', 'bdo', 'cite', 'code', 'del', 'em', 'font', 'i', 'ins', 'kbd'],
  ...['mark', 'q', 's', 'samp', 'small', 'span', 'strong', 'sub', 'sup', 'time', 'tt', 'u', 'wbr'],
]);
/** What is in them is no text. */
const silent: ReadonlyMap<string, RegExp> = new Map([
  ['script', /<\/script/gi],
  ['style', /<\/style/gi],
]);

/** At most so many characters; empty where there is nothing to show. */
export function cleanText(value: unknown, charactersMax: number): string {
  const given = typeof value === 'number' && Number.isFinite(value) ? String(value) : value;
  if (typeof given !== 'string') return '';
  let text = withoutUnseen(given.slice(0, charactersMax * unitsPerCharacter + 64));
  for (let round = 0; round < roundsMax && mayHoldMarkup(text); round += 1) {
    const before = text;
    text = withoutUnseen(decodeEntities(dropTags(text)));
    if (text === before) break;
  }
  if (opensTag.test(text)) text = text.replace(/<(?=[a-z/!?])/gi, '');
  // Most texts have single blanks, and each that is replaced costs.
  if (oddBlank.test(text)) text = text.replace(/\s+/g, ' ');
  return cutCharacters(text.trim(), charactersMax).trimEnd();
}

/** As `cleanText`; undefined where there is none. */
export function textOf(value: unknown, charactersMax: number): string | undefined {
  const text = cleanText(value, charactersMax);
  return text === '' ? undefined : text;
}

/** Cleaned texts of a list, each once, without empty ones. */
export function textsOf(values: readonly unknown[], count: number, charactersMax: number) {
  const texts = new Set<string>();
  for (const value of values) {
    if (texts.size === count) break;
    const text = cleanText(value, charactersMax);
    if (text !== '') texts.add(text);
  }
  return [...texts];
}

/** The mark of byte order is a blank to the engine, but parts no words. */
function withoutUnseen(text: string): string {
  return plain.test(text) ? text : withoutInvisible(text.replaceAll('\ufeff', ''));
}

function mayHoldMarkup(text: string): boolean {
  return text.includes('&') || opensTag.test(text);
}

/** In one pass: a tag that is not closed goes with all that is behind it, as in a browser. */
function dropTags(text: string): string {
  let kept = '';
  let at = 0;
  for (let open = text.indexOf('<'); open !== -1; open = text.indexOf('<', at)) {
    kept += text.slice(at, open);
    const tag = tagAt(text, open);
    if (tag === null) {
      kept += '<';
      at = open + 1;
      continue;
    }
    if (!inline.has(tag.name)) kept += ' ';
    if (tag.end === -1) return kept;
    at = tag.end;
  }
  return kept + text.slice(at);
}

/** `end` is behind what goes; -1: nothing is left behind it. */
function tagAt(text: string, open: number): { name: string; end: number } | null {
  if (text.startsWith('<!--', open)) return { name: '!', end: behind(text, '-->', open + 4) };
  if (!opensTag.test(text.slice(open, open + 2))) return null;
  const name = /^<\/?([a-z\d]*)/i.exec(text.slice(open, open + 16))?.[1]?.toLowerCase() ?? '';
  const end = behind(text, '>', open);
  const close = text[open + 1] === '/' ? undefined : silent.get(name);
  if (end === -1 || close === undefined) return { name, end };
  close.lastIndex = end;
  const closing = close.exec(text);
  return { name, end: closing === null ? -1 : behind(text, '>', closing.index) };
}

function behind(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at === -1 ? -1 : at + mark.length;
}

/** The begin of a text, at most so many code points. */
export function cutCharacters(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  let at = 0;
  for (let count = 0; count < charactersMax && at < text.length; count += 1) {
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }
  return text.slice(0, at);
}

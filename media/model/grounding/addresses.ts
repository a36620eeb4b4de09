// Addresses in a text: of the web, of mail, and whatever a link of Markdown leads to. Those that no
// source has are taken out. Pure, and each pattern reads a text once.

/** Until a blank, a quote, a bracket or the punctuation of Chinese and its like. */
const body = String.raw`[^\s<>"\`\[\]{}|\\^“”«»，。、；：！？（）【】「」『』《》]`;
const hostPart = '[a-z0-9][a-z0-9-]{0,62}';
/** They end hosts that are named without scheme and path. Ends of file names are not here. */
const commonEndings = [
  'com|org|net|edu|gov|int|info|biz|io|dev|app|ai|xyz|online|site|shop|store|tech|cloud|club|top',
  'live|news|wiki|link|page|example|test|invalid|de|at|ch|li|uk|ie|fr|it|es|pt|br|nl|be|lu|eu|us',
  'ca|au|nz|jp|cn|hk|tw|kr|in|sg|id|th|vn|ph|ru|su|ua|by|pl|cz|sk|hu|ro|bg|gr|tr|il|se|dk|no|fi',
  'ee|lv|lt|mx|ar|cl|co|pe|za|ng|ke|eg|sa|ae|ir|pk|tv|me|cc|ly',
].join('|');
const plainAddress = new RegExp(
  [
    String.raw`[a-z][a-z0-9+.-]{0,19}:\/\/(?:\[[0-9a-f:.]{2,45}\])?${body}*`,
    `(?<![a-z0-9])(?:javascript|data|mailto|vbscript|file|blob|tel):${body}+`,
    String.raw`(?<![a-z0-9@._%+-])[a-z0-9._%+-]{1,64}@(?:${hostPart}\.)+[a-z]{2,24}(?![a-z0-9-])`,
    String.raw`(?<![a-z0-9])www\.${body}+`,
    String.raw`(?<![a-z0-9])(?:${hostPart}\.){1,8}[a-z]{2,24}(?::\d{1,5})?[/?#]${body}*`,
    String.raw`(?<![a-z0-9])(?:${hostPart}\.){1,8}(?:${commonEndings})(?![a-z0-9]|[-_][a-z0-9])`,
  ].join('|'),
  'gi',
);
const link = new RegExp(
  String.raw`(!?)\[([^\[\]\n]{0,300})\]\([ \t]{0,4}<?` +
    String.raw`([^\s()<>]{1,2048}(?:\([^\s()<>]{0,256}\)[^\s()<>]{0,256}){0,4})>?` +
    String.raw`(?:[ \t]{1,4}"[^"\n]{0,300}")?[ \t]{0,4}\)`,
  'g',
);
const addressCharactersMax = 2_048;
const hostLabelsMax = 8;
const trailing = /[.,;:!?'’*_~-]/;

export interface AddressSpan {
  start: number;
  end: number;
}

/** What the sources have. */
export interface KnownAddresses {
  keys: ReadonlySet<string>;
  hosts: ReadonlySet<string>;
}

export function knownAddresses(
  sources: readonly { title: string; url: string; text: string }[],
): KnownAddresses {
  const keys = new Set<string>();
  const hosts = new Set<string>();
  const add = (address: string) => {
    const { key, host } = keyOf(address);
    keys.add(key);
    // A page of `news.example.com` has `example.com` as well.
    const labels = host?.split('.').slice(-hostLabelsMax) ?? [];
    for (let at = 0; at < labels.length - 1; at += 1) hosts.add(labels.slice(at).join('.'));
  };
  for (const { title, url, text } of sources) {
    if (url !== '') add(url);
    for (const said of [title, text]) {
      for (const { start, end } of spansIn(said)) add(said.slice(start, end));
    }
  }
  return { keys, hosts };
}

/** Takes out what no source has. A link leaves its words behind. */
export function withoutUnknown(
  text: string,
  known: KnownAddresses,
): { text: string; removed: number } {
  let removed = 0;
  const unlinked = text.replace(link, (whole, _image, words: string, target: string) => {
    if (isKnown(target, known)) return whole as string;
    removed += 1;
    // A number in brackets is a mark, whatever it leads to.
    return /^\d+$/.test(words) ? `[${words}]` : words;
  });
  const parts: string[] = [];
  let from = 0;
  for (const span of unknownIn(unlinked, known)) {
    const { start, end } = widened(unlinked, span, from);
    parts.push(unlinked.slice(from, start));
    from = end;
    removed += 1;
  }
  parts.push(unlinked.slice(from));
  return { text: parts.join(''), removed };
}

export function unknownIn(text: string, known: KnownAddresses): AddressSpan[] {
  const unknown: AddressSpan[] = [];
  for (const span of spansIn(text)) {
    const address = text.slice(span.start, span.end);
    if (isKnown(address, known)) continue;
    const ascii = asciiOf(address);
    if (ascii === '') unknown.push(span);
    // What stands behind it without a blank is a sentence of another script.
    else if (!isKnown(ascii, known)) unknown.push({ ...span, end: span.start + ascii.length });
  }
  return unknown;
}

export function withoutAddresses(text: string): string {
  return text.replace(plainAddress, ' ');
}

function spansIn(text: string): AddressSpan[] {
  const spans: AddressSpan[] = [];
  for (const { 0: run, index } of text.matchAll(plainAddress)) {
    if (isMissingBlank(run)) continue;
    spans.push({ start: index, end: index + trimmedLength(run) });
  }
  return spans;
}

/** `blue.It`: a sentence that begins without a blank before it. */
function isMissingBlank(run: string): boolean {
  return /^\.[A-Z][a-z]$/.test(run.slice(-3)) && !/[@/:]/.test(run);
}

/** Without the punctuation of the sentence; a bracket stays that was opened in it. */
function trimmedLength(run: string): number {
  let open = 0;
  for (const character of run) open += character === '(' ? 1 : character === ')' ? -1 : 0;
  let end = run.length;
  for (; end > 1; end -= 1) {
    const last = run[end - 1] ?? '';
    if (last === ')' && open < 0) open += 1;
    else if (!trailing.test(last)) break;
  }
  return end;
}

/** The address up to the first character beyond ASCII; empty: it has none, or its host goes on. */
function asciiOf(address: string): string {
  const ascii = /^[\x21-\x7e]+/.exec(address)?.[0] ?? '';
  if (ascii.length === address.length) return '';
  const cut = ascii.slice(0, trimmedLength(ascii));
  return /^(?:[a-z][a-z0-9+.-]*:\/\/)?[a-z0-9-]+(?:\.[a-z0-9-]+)+/i.test(cut) ? cut : '';
}

function isKnown(address: string, { keys, hosts }: KnownAddresses): boolean {
  const { key, host, isHostAlone } = keyOf(address);
  return keys.has(key) || (isHostAlone && host !== null && hosts.has(host));
}

interface AddressKey {
  key: string;
  /** Null: it is none of the web. */
  host: string | null;
  /** `example.com`, as it is named in a sentence. */
  isHostAlone: boolean;
}

/** The same for http and https, with and without `www.` and the last slash. */
function keyOf(address: string): AddressKey {
  const hasScheme = /^https?:\/\//i.test(address);
  const isOther = !hasScheme && /^[a-z][a-z0-9+.-]*:/i.test(address) && !/^[^:]+:\d/.test(address);
  const isNone = isOther || address.includes('@') || address.length > addressCharactersMax;
  const whole = hasScheme ? address : `https://${address}`;
  if (isNone || !URL.canParse(whole)) return { key: address, host: null, isHostAlone: false };
  const { host, pathname, search, hash } = new URL(whole);
  const bare = host.replace(/^www\./, '');
  const path = pathname.replace(/\/$/, '');
  return {
    key: `${bare}${path}${search}${hash}`,
    host: bare,
    isHostAlone: !hasScheme && !/[/?#]/.test(address),
  };
}

/** With the blank before it, and brackets that would be empty. */
function widened(text: string, { start, end }: AddressSpan, from: number): AddressSpan {
  const pairs = ['()', '<>', '（）', '""'];
  let [first, last] = [start, end];
  for (const [open, close] of pairs) {
    if (text[first - 1] !== open || text[last] !== close || first - 1 < from) continue;
    first -= 1;
    last += 1;
  }
  const next = text[last];
  if (next === undefined || /[\s.,;:!?)]/.test(next)) {
    while (first > from && /[ \t]/.test(text[first - 1] ?? '')) first -= 1;
  }
  return { start: first, end: last };
}

// Texts of apps without what must not be kept: addresses of people, credentials, numbers of cards,
// and queries of URLs. Pure. In doubt it is cut: nobody needs the rest of such a text.

/** What stands for a text that was cut. */
export const cut = {
  email: '[email]',
  token: '[token]',
  number: '[number]',
  query: '[query]',
  secret: '[removed]',
} as const;

const spokenWords = 'password|passphrase|secret|token|api[ _-]?key';
const secretWords = [
  ...[spokenWords, 'passwd', 'pwd', 'apikey', 'authorization', 'auth', 'cookie'],
  ...['session(?:[ _-]?id)?', 'credential', 'signature', 'otp', 'pin', 'cvc', 'cvv'],
].join('|');
/** What was cut already stays as it is. */
const secretValue = String.raw`(?!\[[a-z]+\])[^\s"',;&})\]]{1,8000}`;
const spokenValue = String.raw`(?=[^\s\d]{0,200}\d)\S{4,8000}`;

/** Parts of texts are bounded, so that no text takes longer than its length. */
const rules: readonly (readonly [RegExp, string])[] = [
  // User and password of a URL, its query and its fragment.
  [/([a-z][a-z0-9+.-]{1,30}:\/\/)[^\s/?#@"'<>]{1,500}@/gi, `$1${cut.secret}@`],
  [/\?[^\s"'<>()?]{0,4000}=[^\s"'<>()]{0,8000}/g, `?${cut.query}`],
  [/#[^\s"'<>()#]{0,2000}=[^\s"'<>()]{0,8000}/g, `#${cut.query}`],
  // JSON Web Tokens, and credentials of ours and of others by how they begin.
  [/\beyJ[\w-]{4,8000}(?:\.[\w-]{0,8000}){0,4}/g, cut.token],
  [/\bsvc_[a-z]{2,8}_[\w-]{6,200}/gi, cut.token],
  [
    /\b(?:sk|pk|rk|whsec|gh[opusr]|github_pat|glpat|npm|xox[a-z]|rzp|shpat|hf)[_-][\w-]{8,500}/g,
    cut.token,
  ],
  [/\b(?:AKIA|ASIA|AIza|ya29\.)[\w-]{8,500}/g, cut.token],
  [/-----BEGIN [\s\S]*/g, cut.token],
  [/\b(bearer|basic|digest|negotiate)(\s{1,4})[\w.~+/=:-]{4,8000}/gi, `$1$2${cut.token}`],
  // Headers have several of them in a line.
  [/\b((?:set-)?cookie|authorization)(["']?\s{0,4}[:=])[^\n]{1,8000}/gi, `$1$2 ${cut.secret}`],
  // `password: …`, `"api_key":"…"`, `token=…`.
  [
    new RegExp(`((?:${secretWords})s?["']?\\s{0,4}[:=]\\s{0,4}["']?)${secretValue}`, 'gi'),
    `$1${cut.secret}`,
  ],
  // `password hunter2`: a word with a digit behind such a name.
  [
    new RegExp(`\\b((?:${spokenWords})\\s{1,4}(?:(?:is|was)\\s{1,4})?)${spokenValue}`, 'gi'),
    `$1${cut.secret}`,
  ],
];

/** Thirteen digits and more, in groups or not: cards have 13 to 19. */
const longNumber = /(?<!\d)\d(?:[ .\-\u00a0\u2009]?\d){12,200}/g;

/** A long run without a blank that has letters and several digits: no word of any language. */
const opaque = /[A-Za-z0-9_+=-]{20,8000}/g;
const digitsOfOpaque = 3;

// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are no text
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;

/** The text without what must not be kept; control characters are blanks. */
export function redactText(text: string): string {
  let kept = text.toWellFormed().replace(control, ' ');
  for (const [pattern, replacement] of rules) kept = kept.replace(pattern, replacement);
  kept = redactEmails(kept);
  kept = kept.replace(opaque, (run) => {
    const digits = run.replace(/\D/g, '').length;
    return digits >= digitsOfOpaque && /[A-Za-z]/.test(run) ? cut.token : run;
  });
  return kept.replace(longNumber, cut.number);
}

const localPart = /[\p{L}\p{N}.!#$&'*+/=?^_`{|}~-]/u;
const domain = /[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63}){1,8}/uy;
const localMax = 254;

/** From each sign to both sides: a pattern that begins before it would look too often. */
function redactEmails(text: string): string {
  let kept = '';
  let from = 0;
  for (const { index, 0: sign } of text.matchAll(/@|%40/g)) {
    let begin = index;
    while (begin > from && index - begin < localMax && localPart.test(text[begin - 1] ?? '')) {
      begin -= 1;
    }
    domain.lastIndex = index + sign.length;
    const host = domain.exec(text);
    if (begin === index || host === null) continue;
    kept += text.slice(from, begin) + cut.email;
    from = domain.lastIndex;
  }
  return kept + text.slice(from);
}

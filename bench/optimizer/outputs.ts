// What the tools of an agent put out: files, searches, test runs, builds, diffs, listings, replies
// of APIs, pages. Each takes the facts that are to stand in it, as lines or as records.
import { type Language, paragraph } from './prose.ts';
import type { Random } from './random.ts';

const NOUNS = [
  'ledger',
  'session',
  'router',
  'invoice',
  'cursor',
  'mailbox',
  'quota',
  'digest',
  'replica',
  'shard',
  'webhook',
  'tenant',
];
const VERBS = [
  'load',
  'merge',
  'flush',
  'resolve',
  'verify',
  'rotate',
  'collect',
  'attach',
  'drain',
  'publish',
];
const HOSTS = ['eu-west-1a', 'eu-west-1b', 'us-east-2c', 'ap-south-1a'];

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

export function pathOf(random: Random): string {
  const noun = random.pick(NOUNS);
  return `src/${random.pick(NOUNS)}/${random.pick(VERBS)}-${noun}.ts`;
}

/** Puts lines at random places, none at the first or last. */
function planted(random: Random, lines: string[], facts: readonly string[]): string[] {
  const result = [...lines];
  for (const fact of facts) result.splice(1 + random.integer(result.length - 1), 0, fact);
  return result;
}

export function sourceFile(random: Random, facts: readonly string[]): string {
  const functions = Array.from({ length: 8 + random.integer(10) }, () => {
    const [verb, noun] = [random.pick(VERBS), capital(random.pick(NOUNS))];
    const limit = random.integer(9000);
    return [
      `export function ${verb}${noun}(input: ${noun}Input, now: number): ${noun}Result {`,
      `  const pending = input.entries.filter((entry) => entry.dueAt <= now + ${limit});`,
      `  if (pending.length === 0) return { status: 'idle', entries: [] };`,
      '  const sorted = pending.toSorted((left, right) => left.dueAt - right.dueAt);',
      `  for (const entry of sorted) entry.attempts = Math.min(9, ${random.integer(40)});`,
      `  return { status: '${random.pick(VERBS)}ed', entries: sorted };`,
      '}',
      '',
    ];
  });
  const constants = facts.map((fact) => [fact, '']);
  const blocks = random.shuffled([...functions, ...constants]);
  return ["import { strict as assert } from 'node:assert';", '', ...blocks.flat()].join('\n');
}

export function numbered(text: string): string {
  return text
    .split('\n')
    .map((line, index) => `${String(index + 1).padStart(6)}\t${line}`)
    .join('\n');
}

export function grepOutput(random: Random, facts: readonly string[]): string {
  const lines = Array.from({ length: 40 + random.integer(120) }, () => {
    const [verb, noun] = [random.pick(VERBS), random.pick(NOUNS)];
    const where = `${pathOf(random)}:${random.integer(400)}`;
    return `${where}:  const ${noun} = await ${verb}${capital(noun)}(options);`;
  });
  return planted(random, lines, facts).join('\n');
}

function clock(random: Random, at: number): string {
  const pad = (value: number, digits = 2): string => String(value).padStart(digits, '0');
  const seconds = Math.floor(at / 1000);
  const [hour, minute] = [Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60];
  const time = [hour, minute, seconds % 60].map((part) => pad(part)).join(':');
  return `2026-11-${pad(1 + (seconds % 28))}T${time}.${pad(random.integer(1000), 3)}Z`;
}

export function serviceLog(random: Random, facts: readonly string[]): string {
  let at = random.integer(80_000_000);
  const lines: string[] = [];
  const count = 80 + random.integer(160);
  while (lines.length < count) {
    at += random.integer(4000);
    const head = `${clock(random, at)} ${random.pick(['INFO ', 'DEBUG', 'INFO ', 'WARN '])}`;
    const host = `${random.pick(NOUNS)}-${random.integer(9)}.${random.pick(HOSTS)}`;
    lines.push(
      `${head} ${host} ${random.pick(VERBS)} request_id=${random.hex(12)} ` +
        `took=${random.integer(900)}ms status=200`,
    );
    if (random.chance(0.06)) {
      const beat = `heartbeat: connection pool ok, nothing to ${random.pick(VERBS)}`;
      lines.push(...Array.from({ length: 4 + random.integer(20) }, () => beat));
    }
  }
  return planted(random, lines, facts).join('\n');
}

export function testRun(random: Random, facts: readonly string[]): string {
  const green = '\u001b[32m';
  const reset = '\u001b[39m';
  const lines = Array.from({ length: 60 + random.integer(100) }, () => {
    const what = `${random.pick(VERBS)}s the ${random.pick(NOUNS)} of a ${random.pick(NOUNS)}`;
    const file = pathOf(random).replace('.ts', '.test.ts');
    return ` ${green}✓${reset} ${file} > ${what}   ${random.integer(90)}ms   `;
  });
  const total = lines.length;
  const all = planted(random, lines, facts);
  return [
    ...all,
    '',
    '',
    '',
    ` Tests  ${total} passed (${total})`,
    `   Duration    ${random.integer(60)}.${random.integer(99)}s`,
  ].join('\n');
}

export function buildLog(random: Random, facts: readonly string[]): string {
  const image = random.hex(12);
  const progress = Array.from(
    { length: 24 },
    (_, step) => `Downloading ${image} ${step * 4}% ${step * 3}.${step % 10}MB/s`,
  );
  const lines = Array.from(
    { length: 50 + random.integer(60) },
    () => `[${random.integer(40)}/40] RUN ${random.pick(VERBS)} --target ${pathOf(random)}`,
  );
  const bar = Array.from(
    { length: 12 },
    (_, step) => `fetching ${'='.repeat(step)}> ${step * 8}%`,
  ).join('\r');
  return planted(random, [bar, ...progress, ...lines], facts).join('\n');
}

export function diffOutput(random: Random, facts: readonly string[]): string {
  const files = Array.from({ length: 3 + random.integer(4) }, () => {
    const path = pathOf(random);
    const hunks = Array.from({ length: 2 + random.integer(4) }, () => hunk(random, []));
    return [`diff --git a/${path} b/${path}`, `--- a/${path}`, `+++ b/${path}`, ...hunks.flat()];
  });
  const extra = facts.map((fact) => [
    `diff --git a/config.ts b/config.ts`,
    '--- a/config.ts',
    '+++ b/config.ts',
    ...hunk(random, [`+${fact}`]),
  ]);
  return random
    .shuffled([...files, ...extra])
    .flat()
    .join('\n');
}

function hunk(random: Random, added: readonly string[]): string[] {
  const at = random.integer(300);
  const noun = random.pick(NOUNS);
  return [
    `@@ -${at},7 +${at},8 @@ export function ${random.pick(VERBS)}${capital(noun)}()`,
    `   const ${noun} = read(${random.integer(99)});`,
    ' ',
    `-  return ${random.pick(VERBS)}(${noun});`,
    ...added,
    `+  return ${random.pick(VERBS)}(${noun}, { retries: ${random.integer(9)} });`,
    ' }',
  ];
}

export function listing(random: Random, facts: readonly string[]): string {
  const lines = Array.from({ length: 60 + random.integer(80) }, () => {
    const size = String(random.integer(90_000)).padStart(9);
    const when = `Nov ${1 + random.integer(28)} 09:${10 + random.integer(50)}`;
    return `-rw-r--r--   1 build    staff  ${size} ${when} ${pathOf(random)}`;
  });
  return planted(random, lines, facts).join('\n');
}

/** A page of an API; `records` stand among its items. */
export function apiReply(random: Random, records: readonly Record<string, unknown>[]): string {
  const items = Array.from({ length: 25 + random.integer(50) }, (_, index) => ({
    id: `${random.pick(NOUNS)}_${random.hex(10)}`,
    index,
    state: random.pick(['active', 'active', 'paused', 'closed']),
    owner: { team: random.pick(NOUNS), region: random.pick(HOSTS) },
    amounts: [random.integer(10_000), random.integer(10_000)],
    note: null,
  }));
  const data: unknown[] = [...items];
  for (const record of records) data.splice(4 + random.integer(items.length - 5), 0, record);
  return JSON.stringify({ object: 'list', has_more: true, next: random.hex(16), data }, null, 2);
}

export function article(random: Random, language: Language, facts: readonly string[]): string {
  const count = 8 + random.integer(10);
  const places = facts.map(() => random.integer(count));
  const paragraphs = Array.from({ length: count }, (_, index) =>
    paragraph(
      random,
      language,
      facts.filter((_fact, which) => places[which] === index),
    ),
  );
  return paragraphs.join('\n\n');
}

export function page(random: Random, language: Language, facts: readonly string[]): string {
  const pushes = Array.from({ length: 20 }, () => `window.q.push("${random.hex(40)}");`);
  const script = `<script>${pushes.join('')}</script>`;
  const body = article(random, language, facts)
    .split('\n\n')
    .map((text) => `<p class="body-text">${text}</p>`);
  const image = Array.from({ length: 60 }, () => `${random.hex(32)}Q9z`).join('');
  return [
    '<!doctype html>',
    '<html><head>',
    script,
    '<style>.body-text{margin:0 auto}</style>',
    '</head><body>',
    `<img src="data:image/png;base64,${image}">`,
    ...body,
    '</body></html>',
  ].join('\n');
}

// Long conversations from seeds: coding agents, operations, research, support chats, each with
// facts planted at any depth, and a last turn that asks for some of them.
import type { Message } from '../../media/model/request.ts';
import {
  type Fact,
  grepFact,
  listingFact,
  logFact,
  proseFact,
  type RecordFact,
  recordFact,
  sourceFact,
  testFact,
} from './facts.ts';
import {
  apiReply,
  article,
  buildLog,
  diffOutput,
  grepOutput,
  listing,
  numbered,
  page,
  pathOf,
  serviceLog,
  sourceFile,
  testRun,
} from './outputs.ts';
import { type Language, sentence } from './prose.ts';
import { createRandom, type Random } from './random.ts';

interface Planted {
  question: string;
  quotes: string[];
}

export interface Conversation {
  name: string;
  messages: Message[];
  /** What the last turn asks for. */
  asked: Planted[];
  /** What stands in it and nobody asks for at its end. */
  others: Planted[];
}

export const FAMILIES = ['coding', 'operations', 'research', 'articles', 'support'] as const;
export type Family = (typeof FAMILIES)[number];

const SYSTEM = `You are a careful engineer. Work step by step, call tools for facts, never guess.
Answer in the language of the user. Quote figures exactly as they stood in their source.`;
const QUESTION_SHARE = 0.3;
const ASKED = 4;

class Script {
  readonly messages: Message[] = [];
  readonly facts: Planted[] = [];
  readonly files = new Map<string, string>();
  readonly random: Random;
  readonly language: Language;

  constructor(random: Random, language: Language) {
    this.random = random;
    this.language = language;
    this.say('system', SYSTEM);
  }

  say(role: 'system' | 'user' | 'assistant', text: string): void {
    const parts: Message['parts'] = [{ type: 'text', text }];
    this.messages.push({ role, parts, toolCalls: [], toolCallId: null });
  }

  call(name: string, input: Record<string, unknown>, output: string): void {
    const id = `call_${this.random.hex(16)}`;
    const toolCalls = [{ id, name, arguments: JSON.stringify(input) }];
    this.messages.push({ role: 'assistant', parts: [], toolCalls, toolCallId: null });
    const parts: Message['parts'] = [{ type: 'text', text: output }];
    this.messages.push({ role: 'tool', parts, toolCalls: [], toolCallId: id });
  }

  /** None to three facts of a kind, remembered to be asked for. */
  plant<F extends Fact | RecordFact>(make: (random: Random) => F): F[] {
    const facts = Array.from({ length: this.random.integer(4) }, () => make(this.random));
    this.facts.push(...facts.map(({ question, quotes }) => ({ question, quotes })));
    return facts;
  }

  lines(make: (random: Random) => Fact): string[] {
    return this.plant(make).map(({ line }) => line);
  }

  prose = (random: Random): Fact => proseFact(random, this.language);
}

function readFile(script: Script): void {
  const { random, files } = script;
  const known = [...files.keys()];
  const path = known.length > 0 && random.chance(0.4) ? random.pick(known) : pathOf(random);
  const text = files.get(path) ?? sourceFile(random, script.lines(sourceFact));
  // Sometimes the file has changed in between.
  const lines = text.split('\n');
  if (random.chance(0.3)) lines.splice(random.integer(lines.length), 0, `// ${random.hex(20)}`);
  files.set(path, lines.join('\n'));
  script.call('read_file', { path }, numbered(lines.join('\n')));
}

type Tool = (script: Script) => void;

const CODING: Tool[] = [
  readFile,
  readFile,
  (script) => {
    const output = grepOutput(script.random, script.lines(grepFact));
    script.call('grep', { pattern: `await (${script.random.hex(3)}|\\w+)` }, output);
  },
  (script) => {
    const command = 'npm test';
    script.call('bash', { command }, testRun(script.random, script.lines(testFact)));
  },
  (script) => {
    script.call(
      'bash',
      { command: 'git diff' },
      diffOutput(script.random, script.lines(sourceFact)),
    );
  },
  (script) => {
    const { random } = script;
    script.call('edit_file', { path: pathOf(random), text: sentence(random, 'en') }, 'ok');
  },
];

const OPERATIONS: Tool[] = [
  (script) => {
    const command = `kubectl logs deploy/${script.random.hex(4)}`;
    script.call('shell', { command }, serviceLog(script.random, script.lines(logFact)));
  },
  (script) => {
    script.call('shell', { command: 'make image' }, buildLog(script.random, script.lines(logFact)));
  },
  (script) => {
    const output = listing(script.random, script.lines(listingFact));
    script.call('shell', { command: 'ls -lR dumps' }, output);
  },
  (script) => {
    const records = script.plant(recordFact).map(({ record }) => record);
    const url = `https://api.example/v2/leases?cursor=${script.random.hex(8)}`;
    script.call('http_get', { url }, apiReply(script.random, records));
  },
];

const RESEARCH: Tool[] = [
  (script) => {
    const { random, language } = script;
    const url = `https://news.example/${random.hex(8)}`;
    script.call('fetch_page', { url }, page(random, language, script.lines(script.prose)));
  },
  (script) => {
    const { random, language } = script;
    const output = article(random, language, script.lines(script.prose));
    script.call('fetch_text', { url: `https://paper.example/${random.hex(8)}` }, output);
  },
  (script) => {
    const records = script.plant(recordFact).map(({ record }) => record);
    script.call('search_api', { query: script.random.hex(6) }, apiReply(script.random, records));
  },
];

/** A user who pastes, and pastes again. */
function paste(script: Script): void {
  const { random, language, files } = script;
  const known = [...files.values()];
  const pasted =
    known.length > 0 && random.chance(0.4)
      ? random.pick(known)
      : article(random, language, script.lines(script.prose));
  files.set(String(files.size), pasted);
  const blocks = [sentence(random, language), pasted];
  if (random.chance(0.3)) {
    blocks.push(`\`\`\`ts\n${sourceFile(random, script.lines(sourceFact))}\n\`\`\``);
  }
  script.say('user', [...blocks, midway(script)].join('\n\n'));
}

function midway(script: Script): string {
  const { random, language, facts } = script;
  const opening = sentence(random, language);
  if (facts.length === 0 || !random.chance(QUESTION_SHARE)) return opening;
  return opening + random.pick(facts).question;
}

const TOOLS: Record<Family, Tool[]> = {
  coding: CODING,
  operations: OPERATIONS,
  research: RESEARCH,
  articles: [RESEARCH[1] ?? readFile],
  support: OPERATIONS.slice(3),
};

function turn(script: Script, family: Family): void {
  const { random, language } = script;
  const pastes = family === 'support' || family === 'articles';
  if (pastes && random.chance(0.6)) paste(script);
  else script.say('user', midway(script));
  const calls = 1 + random.integer(pastes ? 2 : 5);
  for (let count = 0; count < calls; count += 1) random.pick(TOOLS[family])(script);
  const said = random.chance(0.2) ? script.lines(script.prose) : [];
  script.say('assistant', [sentence(random, language), ...said].join(' '));
}

/** The conversation of a seed; `turns` user turns and the last one. */
export function conversationOf(
  family: Family,
  language: Language,
  seed: number,
  turns: number,
): Conversation {
  const random = createRandom(seed);
  const script = new Script(random, language);
  for (let count = 0; count < turns; count += 1) turn(script, family);
  const shuffled = random.shuffled(script.facts);
  const asked = shuffled.slice(0, ASKED);
  script.say('user', asked.map(({ question }) => question).join(' '));
  return {
    name: `${family}-${language}-${seed}`,
    messages: script.messages,
    asked,
    others: shuffled.slice(ASKED),
  };
}

const LANGUAGES: readonly Language[] = ['en', 'de', 'es', 'fr', 'ja', 'zh'];

/** The conversations of the bench: every family, every language in the ones that have prose. */
export function benchConversations(): Conversation[] {
  const conversations: Conversation[] = [];
  for (const [order, family] of FAMILIES.entries()) {
    for (let number = 0; number < 10; number += 1) {
      const language = family === 'coding' ? 'en' : (LANGUAGES[number % 6] ?? 'en');
      const seed = order * 100 + number;
      conversations.push(conversationOf(family, language, seed, 8 + (number % 5) * 3));
    }
  }
  return conversations;
}

const TOGETHER_CHARACTERS = 600;

/** Whether all quotes of a fact still stand together in one text. */
export function isReadable(texts: readonly string[], quotes: readonly string[]): boolean {
  const [first = ''] = quotes;
  return texts.some((text) => {
    for (let at = text.indexOf(first); at !== -1; at = text.indexOf(first, at + 1)) {
      const near = text.slice(Math.max(0, at - TOGETHER_CHARACTERS), at + TOGETHER_CHARACTERS);
      if (quotes.every((quote) => near.includes(quote))) return true;
    }
    return false;
  });
}

// What a run prints while it goes on, and its sums at the end, which machines read too.
import { relative } from 'node:path';
import type { Outcome } from './process.ts';

export class Report {
  tests = 0;
  pass = 0;
  fail = 0;
  skipped = 0;
  readonly #failures: string[] = [];
  readonly #root: string;
  readonly #print: (text: string) => void;

  /** @param root of the checkout; its paths are printed from there. */
  constructor(root: string, print: (text: string) => void) {
    this.#root = root;
    this.#print = print;
  }

  say(line: string): void {
    this.#print(`${line}\n`);
  }

  /** Without the path of this machine. */
  #short(text: string): string {
    return text.replaceAll(`file://${this.#root}`, '').replaceAll(this.#root, '');
  }

  take({ file, name, nesting, ms, result, reason }: Outcome): void {
    const path = relative(`${this.#root}dist`, file);
    const indent = '  '.repeat(nesting);
    const took = `(${Math.round(ms)} ms)`;
    this.tests += 1;
    if (result === 'skip') {
      this.skipped += 1;
      this.say(`${indent}- ${path}: ${name} (skipped: ${reason || 'no reason is given'})`);
    } else if (result === 'pass') {
      this.pass += 1;
      this.say(`${indent}✔ ${path}: ${name} ${took}`);
    } else {
      this.fail += 1;
      this.say(`${indent}✖ ${path}: ${name} ${took}`);
      this.#failures.push(`✖ ${path}: ${name}\n${this.#short(reason)}`);
    }
  }

  /** A rule of the run that was broken: it counts as a failure, not as a test. */
  broke(rule: string): void {
    this.fail += 1;
    this.#failures.push(`✖ ${rule}`);
  }

  summarise(durationMs: number): void {
    for (const failure of this.#failures) this.say(`\n${failure}`);
    this.say('');
    this.say(`# tests ${this.tests}`);
    this.say(`# pass ${this.pass}`);
    this.say(`# fail ${this.fail}`);
    this.say(`# skipped ${this.skipped}`);
    this.say(`# duration_ms ${Math.round(durationMs)}`);
  }
}

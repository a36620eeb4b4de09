// Tries every order in which a shard and its thread may get at the words they share, with the real
// code of both: the thread's runs, and before each of its steps the shard may do any of its own.
import { strict as assert } from 'node:assert';
import {
  type Control,
  controlBytes,
  openControl,
  serve,
  word,
} from '../../../media/audio/lanes/control.ts';
import type { Words } from '../../../media/audio/lanes/words.ts';

type Action = 'ask' | 'dismiss';
export interface Story {
  /** Of the shard. It asks again when it has seen an answer, and dismisses whenever it likes. */
  actions: readonly Action[];
  /** Threads that may be killed, between any two steps. */
  kills?: number;
  /** Breaks the words on purpose. */
  flaw?: (words: Words) => Partial<Words>;
}

/** What ends a run besides an error: nobody can go on, the thread was killed, or seen before. */
class Ending extends Error {}
const [quiet, killed, known] = ['quiet', 'killed', 'known'].map((name) => new Ending(name));

/** Walks a tree of choices, one leaf a run; a state that was seen before is not entered again. */
class Walk {
  readonly #choices: { taken: number; of: number }[] = [];
  readonly #seen = new Set<string>();
  #depth = 0;

  choose(of: number, state: () => string): number {
    const repeated = this.#choices[this.#depth];
    this.#depth += 1;
    if (repeated !== undefined) return repeated.taken;
    const key = state();
    if (this.#seen.has(key)) throw known;
    this.#seen.add(key);
    this.#choices.push({ taken: 0, of });
    return 0;
  }

  /** False: there is no other way. */
  turn(): boolean {
    this.#depth = 0;
    for (let last = this.#choices.at(-1); last !== undefined; last = this.#choices.at(-1)) {
      last.taken += 1;
      if (last.taken < last.of) return true;
      this.#choices.pop();
    }
    return false;
  }

  get states(): number {
    return this.#seen.size;
  }
}

class Run {
  readonly #walk: Walk;
  readonly #story: Story;
  readonly #shared = new Array<number>(controlBytes / Int32Array.BYTES_PER_ELEMENT).fill(0);
  /** Steps of the shard's action, each of which is one access. */
  #steps: { name: string; act: () => void }[] = [];
  #done = 0;
  /** The shard wants an answer, and waits for a notification. */
  #wants = false;
  #waits = false;
  #killsLeft: number;
  /** What the thread has read since its loop began anew: its state. */
  #read = '';
  #notified = false;
  /** The thread has computed all of its batch. */
  #isWhole = false;

  constructor(walk: Walk, story: Story) {
    this.#walk = walk;
    this.#story = story;
    this.#killsLeft = story.kills ?? 0;
  }

  /** Returns when nobody can go on, and all is as it should be. */
  play(): void {
    try {
      for (;;) this.#serve();
    } catch (ending) {
      if (ending === known) return;
      if (ending !== quiet) throw ending;
    }
    assert.ok(this.#isAnswered, 'a batch is left undone');
    assert.equal(this.#done, this.#story.actions.length);
  }

  /** One thread, from the beginning of its term to its end. */
  #serve(): void {
    while (this.#steps.length > 0) this.#step();
    this.#read = '';
    const control = openControl(this.#directly());
    // The shard looks when a thread has ended, and may have had enough of it.
    if (this.#wants && !this.#isAnswered && this.#choose('give up', 2) === 1) control.giveUp();
    if (this.#isAnswered) this.#wants = false;
    while (this.#canStep() && this.#choose('begin', 2) === 1) this.#step();
    while (this.#steps.length > 0) this.#step();
    const term = control.beginTerm();
    try {
      serve(
        this.#flawed(this.#ofThread()),
        { term, termMs: Number.POSITIVE_INFINITY },
        (jobs, isOver) => {
          // Within a term nobody changes what is being computed.
          const asked = this.#shared[word.asked] ?? 0;
          if (this.#shared[word.term] === term) assert.equal(jobs, 10 * asked);
          this.#isWhole = !isOver() && !isOver();
        },
      );
      assert.notEqual(this.#shared[word.term], term, 'a thread has left in its term');
    } catch (ending) {
      if (ending === quiet) assert.equal(this.#shared[word.term], term, 'a dismissal was missed');
      if (ending !== killed) throw ending;
    }
  }

  #choose(what: string, of: number): number {
    return this.#walk.choose(of, () =>
      JSON.stringify([
        what,
        this.#shared,
        this.#steps.map(({ name }) => name),
        this.#done,
        this.#wants,
        this.#waits,
        this.#killsLeft,
        this.#read,
      ]),
    );
  }

  #flawed(words: Words): Words {
    return { ...words, ...this.#story.flaw?.(words) };
  }

  get #isAnswered(): boolean {
    return this.#shared[word.answered] === this.#shared[word.asked];
  }

  get #next(): Action | undefined {
    return this.#story.actions[this.#done];
  }

  #canStep(): boolean {
    if (this.#steps.length > 0 || this.#next === 'dismiss') return true;
    // An answer may also be seen by the timer, before its notification.
    return this.#wants ? !this.#waits || this.#isAnswered : this.#next === 'ask';
  }

  #step(): void {
    if (this.#steps.length === 0) this.#begin();
    this.#steps.shift()?.act();
  }

  #begin(): void {
    const control = openControl(this.#flawed(this.#asSteps()));
    if (this.#wants && this.#isAnswered) this.#wants = false;
    else if (this.#wants && !this.#waits) void control.change();
    else this.#act(control);
  }

  #act(control: Control): void {
    const action = this.#next;
    this.#done += 1;
    if (action === 'dismiss') {
      control.dismiss();
      return;
    }
    this.#wants = true;
    control.ask(10 * ((this.#shared[word.asked] ?? 0) + 1));
  }

  /** Atomics, for a moment in which nobody else is there. */
  #directly(): Words {
    const shared = this.#shared;
    const load = (index: number) => shared[index] ?? 0;
    return {
      load,
      store(index, value) {
        shared[index] = value;
      },
      increment(index) {
        shared[index] = load(index) + 1;
      },
      replace(index, from, to) {
        if (load(index) !== from) return false;
        shared[index] = to;
        return true;
      },
      wait: () => assert.fail('the shard never blocks'),
      waitAsync: (index, value) => {
        if (load(index) === value) this.#waits = true;
        return null;
      },
      notify: (index) => {
        if (index === word.signal) this.#notified = true;
        else this.#waits = false;
      },
    };
  }

  /** The shard's: what it writes becomes steps; what it reads, nobody else writes meanwhile. */
  #asSteps(): Words {
    const now = this.#directly();
    const put = (name: string, act: () => void) => void this.#steps.push({ name, act });
    return {
      ...now,
      store: (index, value) => put(`store ${index} ${value}`, () => now.store(index, value)),
      increment: (index) => put(`increment ${index}`, () => now.increment(index)),
      waitAsync(index, value) {
        put(`wait ${index} ${value}`, () => now.waitAsync(index, value));
        return null;
      },
      notify: (index) => put(`notify ${index}`, () => now.notify(index)),
    };
  }

  /** The thread's: before each access the shard may do some steps, or the thread be killed. */
  #ofThread(): Words {
    const now = this.#directly();
    const after = <T>(act: () => T): T => {
      this.#interrupt();
      const result = act();
      this.#read += `${result} `;
      return result;
    };
    return {
      ...now,
      load: (index) => after(() => now.load(index)),
      store: (index, value) => after(() => now.store(index, value)),
      replace: (index, from, to) =>
        after(() => {
          assert.ok(this.#isWhole, 'half a batch is an answer');
          return now.replace(index, from, to);
        }),
      notify: (index) => {
        after(() => now.notify(index));
        this.#read = '';
      },
      wait: (index, value) => {
        after(() => {});
        if (now.load(index) === value) this.#sleep();
        this.#read = '';
      },
    };
  }

  /** The thread's turn to do nothing: the shard goes on until it wakes it. */
  #sleep(): void {
    this.#notified = false;
    while (!this.#notified) {
      const isUntold = this.#wants && this.#waits && this.#isAnswered && this.#steps.length === 0;
      assert.ok(!isUntold, 'the shard was not told of an answer');
      if (!this.#canStep()) throw quiet;
      this.#step();
    }
  }

  #interrupt(): void {
    for (;;) {
      const canStep = this.#canStep();
      const canDie = this.#killsLeft > 0;
      const choice = this.#choose('go on', 1 + Number(canStep) + Number(canDie));
      if (choice === 0) return;
      if (choice === 1 && canStep) {
        this.#step();
        continue;
      }
      this.#killsLeft -= 1;
      throw killed;
    }
  }
}

/** How many states there were. Throws in the first one that must not be. */
export function tryAllOrders(story: Story): number {
  const walk = new Walk();
  do new Run(walk, story).play();
  while (walk.turn());
  return walk.states;
}

// What the pool's tests run in its threads: adds, waits, spins, throws or eats memory on demand.
// Piscina wants a default export.
import { getPriority } from 'node:os';
import '../../runtime/work/background.ts';

export interface TaskInput {
  act: 'priority' | 'add' | 'spin' | 'throw' | 'eat' | 'sleep';
  numbers?: number[];
  ms?: number;
}

export default async function work(input: TaskInput): Promise<number> {
  if (input.act === 'priority') return getPriority(0);
  if (input.act === 'throw') throw new Error('the task is broken');
  if (input.act === 'sleep') await new Promise((resolve) => setTimeout(resolve, input.ms ?? 0));
  if (input.act === 'spin') {
    const end = performance.now() + (input.ms ?? 0);
    while (performance.now() < end);
  }
  const eaten: number[][] = [];
  while (input.act === 'eat') eaten.push(new Array<number>(100_000).fill(1.5));
  return (input.numbers ?? []).reduce((sum, value) => sum + value, 0);
}

// Turns of the event loop for steps that take milliseconds: a long body is parsed, hashed and
// encoded in a turn of its own each, and two of them never share one, however many come at once.

const waiting: (() => void)[] = [];

/** Resolves at the start of a turn that no other long step of this thread has. In order. */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(next);
  });
}

function next(): void {
  const begin = waiting.shift();
  if (waiting.length > 0) setImmediate(next);
  begin?.();
}

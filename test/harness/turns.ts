// How many turns of the event loop others had while something long was done.

/** Does the work; `turns` are those that the loop took meanwhile. */
export async function countTurns<T>(work: () => Promise<T>): Promise<{ result: T; turns: number }> {
  let turns = 0;
  let counting = true;
  const count = () => {
    turns += 1;
    if (counting) setImmediate(count);
  };
  count();
  try {
    const result = await work();
    return { result, turns };
  } finally {
    counting = false;
  }
}

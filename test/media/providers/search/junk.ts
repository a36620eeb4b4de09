// Replies that are almost good: a recorded body, with parts of it in other forms.
import { fc } from '../../../harness/properties.ts';

/** Any of its values, at any depth, may be another JSON value or missing. */
export function withJunk(body: unknown): fc.Arbitrary<unknown> {
  const choice = fc.oneof(
    { weight: 5, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }).map((value) => ({ value })) },
    { weight: 1, arbitrary: fc.constant('gone' as const) },
  );
  return fc.infiniteStream(choice).map((choices) => {
    const take = () => choices.next().value;
    return changed(body, take);
  });
}

type Choice = { value: unknown } | 'gone' | null;

function changed(value: unknown, take: () => Choice): unknown {
  const choice = take();
  if (choice === 'gone') return undefined;
  if (choice !== null) return choice.value;
  if (Array.isArray(value)) return value.map((entry) => changed(entry, take));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, changed(member, take)]),
  );
}

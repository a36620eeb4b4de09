// Random bodies of the public formats: conversations with tools, images and results, every setting,
// and members that nobody knows. The last user text tells the simulator what to do.
import { fc } from '../../harness/properties.ts';

export type Members = Record<string, unknown>;

export const toolNames = ['find', 'list_all', 'send'] as const;

const word = fc.constantFrom('one', 'zwei', '三', 'fo"ur', 'fi\\ve', '🙂', 'seven\n', '8');
export const text = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' '));

export const pixel = 'data:image/png;base64,iVBORw0KGgo=';

const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, sizes: { type: 'array', items: { type: 'integer' } } },
  required: ['city', 'sizes'],
  additionalProperties: false,
};

/** What the simulator is asked for. */
export const directive = fc
  .record({
    tokens: fc.nat(9),
    cached: fc.option(fc.nat(4), { nil: null }),
    reasoning: fc.option(fc.nat(3), { nil: null }),
    call: fc.option(fc.constantFrom(...toolNames, 'find,send'), { nil: null }),
    refusal: fc.option(fc.constant(1), { nil: null, freq: 8 }),
  })
  .map((wanted) => {
    const entries = Object.entries(wanted).filter(([, value]) => value !== null);
    return `[[sim ${entries.map(([name, value]) => `${name}=${value}`).join(' ')}]]`;
  });

export interface Exchange {
  /** What the user says: texts, and an image after them. */
  user: string[];
  image: boolean;
  said: string | null;
  /** Tools that the assistant called, and what they gave. */
  calls: { name: string; args: string; result: string[]; failed: boolean }[];
}

const call = fc.record({
  name: fc.constantFrom(...toolNames),
  args: fc.constantFrom('{}', '{"a":1}', '{"text":"Grüße \\"x\\"","list":[1,null]}'),
  result: fc.array(text, { minLength: 1, maxLength: 2 }),
  failed: fc.boolean(),
});

const exchange: fc.Arbitrary<Exchange> = fc.record({
  user: fc.array(text, { minLength: 1, maxLength: 2 }),
  image: fc.boolean(),
  said: fc.option(text, { nil: null }),
  calls: fc.array(call, { maxLength: 2 }),
});

export interface Conversation {
  system: string[];
  before: Exchange[];
  /** The last user's words; with the directive at the end. */
  last: Exchange;
  /** Whether the last calls and results stand after the directive: the answer is due then. */
  continues: boolean;
}

export const conversation: fc.Arbitrary<Conversation> = fc
  .record({
    system: fc.array(text, { maxLength: 2 }),
    before: fc.array(exchange, { maxLength: 2 }),
    last: exchange,
    continues: fc.boolean(),
    directive,
  })
  .map(({ directive: wanted, last, ...rest }) => ({
    ...rest,
    last: { ...last, user: [...last.user, wanted] },
  }));

/** Any subset of the members. */
export function some(members: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Members> {
  return fc.record(members, { requiredKeys: [] });
}

export const jsonSchemaFormat = { type: 'json_schema', name: 'answer', strict: true, schema };
export const unknownMembers = some({
  brand_new: fc.constant({ a: [1] }),
  verbosity: fc.constant('low'),
});

/** Ids that are unique over a conversation. */
export function callIds(): () => string {
  let count = 0;
  return () => {
    count += 1;
    return `call_${count}`;
  };
}

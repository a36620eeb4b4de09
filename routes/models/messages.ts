// What a model has besides for clients of Messages, which ask for it at the same paths as those of
// OpenAI's formats: they name a version of theirs.
import * as v from 'valibot';
import type { ManagedRoute } from '../../actors/catalog/managed.ts';
import type { CatalogModel } from '../../actors/catalog/model.ts';
import { messagesVersionHeader } from '../../media/providers/generation/forwarded-headers.ts';
import type { Exchange } from '../../runtime/http/route.ts';

export const modelHeaders = {
  [messagesVersionHeader]: {
    description: 'Sent by clients of Messages: models have the members of that format as well.',
  },
};

const count = v.nullable(v.pipe(v.number(), v.integer()));

function member<S extends v.GenericSchema>(schema: S) {
  return v.pipe(v.optional(schema), v.description('For clients of Messages.'));
}

export const messagesEntries = {
  type: member(v.literal('model')),
  display_name: member(v.string()),
  created_at: member(v.string()),
  lifecycle: member(v.literal('active')),
  max_input_tokens: member(count),
  max_tokens: member(count),
  capabilities: member(v.null()),
  deprecated_at: member(v.null()),
  retires_at: member(v.null()),
  line: member(v.null()),
};

export function speaksMessages(exchange: Pick<Exchange, 'header'>): boolean {
  return exchange.header(messagesVersionHeader) !== undefined;
}

/** Whether a generation can name it. */
export function isText(entry: CatalogModel | ManagedRoute): boolean {
  return entry.kind === 'generation';
}

export function messagesMembers(entry: CatalogModel | ManagedRoute) {
  const { display_name, context_window } = entry.public;
  const models = 'pool' in entry ? entry.pool.map(({ model }) => model) : [entry];
  const outputTokensMax = Math.max(...models.map((model) => model.outputTokensMax));
  return {
    type: 'model' as const,
    display_name,
    created_at: new Date(entry.createdAt * 1_000).toISOString(),
    lifecycle: 'active' as const,
    max_input_tokens: isText(entry) ? context_window : null,
    max_tokens: isText(entry) ? outputTokensMax : null,
    // Not told apart in the way of that format.
    capabilities: null,
    deprecated_at: null,
    retires_at: null,
    line: null,
  };
}

// A catalog for tests of web search: models with and without a search of their own, and, or not, a
// provider that searches for the others.

/** Models at `simulatorUrl`; null: nobody searches for them. */
export function searchCatalog(
  simulatorUrl: string,
  finderUrl: string | null,
): Record<string, unknown> {
  const price = {
    input_per_million: '1',
    output_per_million: '2',
    per_search_call: '0.001',
  };
  const base = { price, context_window: 100_000 };
  const named = (kind: string) => `simulated-${kind}-small-2026-01-15`;
  return {
    providers: [
      { name: 'p-chat', family: 'openai-chat', base_url: `${simulatorUrl}/v1` },
      { name: 'p-responses', family: 'openai-responses', base_url: `${simulatorUrl}/v1` },
      { name: 'p-messages', family: 'anthropic-messages', base_url: `${simulatorUrl}/v1` },
      { name: 'p-gemini', family: 'gemini', base_url: `${simulatorUrl}/v1beta` },
      ...(finderUrl === null ? [] : [{ name: 'finder', family: 'serper', base_url: finderUrl }]),
    ],
    surfaces: [
      finderUrl === null
        ? { name: 'web_search', display_name: 'Web search', enabled: false }
        : { name: 'web_search', display_name: 'Web search', provider: 'finder' },
    ],
    models: [
      {
        ...base,
        alias: 'plain',
        routes: [{ provider: 'p-chat', upstream_model: named('chat') }],
      },
      {
        ...base,
        alias: 'both',
        routes: [
          { provider: 'p-responses', upstream_model: named('responses') },
          { provider: 'p-chat', upstream_model: named('chat') },
        ],
      },
      ...['responses', 'messages', 'gemini'].map((kind) => ({
        ...base,
        alias: `native-${kind}`,
        routes: [{ provider: `p-${kind}`, upstream_model: named(kind) }],
        capabilities: ['chat', 'tools', 'web_search'],
      })),
    ],
    routes: [
      { alias: 'm-plain', pool: [{ model: 'plain', quality: 50 }], optimizer: 'never' },
      {
        alias: 'm-mixed',
        pool: [
          { model: 'plain', quality: 90 },
          { model: 'native-messages', quality: 10 },
        ],
        optimizer: 'never',
      },
      {
        alias: 'm-native',
        pool: [
          { model: 'native-gemini', quality: 90 },
          { model: 'native-messages', quality: 10 },
        ],
        optimizer: 'never',
      },
    ],
  };
}

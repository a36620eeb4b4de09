// Client libraries of others that work with this service unpatched, for the discovery document.

export interface ClientLibrary {
  name: string;
  /** In the npm registry. */
  package: string;
  /** Appended to our origin to get the library's base URL. */
  basePath: string;
}

export const clientLibraries: readonly ClientLibrary[] = [
  { name: 'OpenAI for JavaScript', package: 'openai', basePath: '/v1' },
  { name: 'AI SDK, OpenAI provider', package: '@ai-sdk/openai', basePath: '/v1' },
  { name: 'OpenAI Agents SDK', package: '@openai/agents', basePath: '/v1' },
  { name: 'LangChain, OpenAI models', package: '@langchain/openai', basePath: '/v1' },
  { name: 'Anthropic for JavaScript', package: '@anthropic-ai/sdk', basePath: '' },
  { name: 'AI SDK, Anthropic provider', package: '@ai-sdk/anthropic', basePath: '/v1' },
];

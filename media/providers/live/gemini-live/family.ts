// The Gemini Live family: one method of the Gemini API, beside the HTTP ones of the same base URL.
import { socketBase } from '../address.ts';
import type { LiveFamily } from '../contract.ts';
import { createCodec } from './codec.ts';

export const geminiLive: LiveFamily = {
  name: 'gemini-live',
  inputRateHz: 16_000,
  address: ({ baseUrl, apiKey }) => {
    const isToken = apiKey?.startsWith('auth_tokens/') === true;
    return { url: urlOf(baseUrl, isToken), headers: headersOf(apiKey, isToken) };
  },
  createCodec: (setup, { upstreamModel }) => createCodec(setup, upstreamModel),
};

/** The version is the last segment of the base URL: `…/v1beta`; an ephemeral token has its own. */
function urlOf(baseUrl: string, isToken: boolean): string {
  const base = socketBase(baseUrl);
  const [segment, version] = /\/(v\d+[a-z]*\d*)$/.exec(base) ?? ['', 'v1beta'];
  const method = isToken ? 'BidiGenerateContentConstrained' : 'BidiGenerateContent';
  const service = `google.ai.generativelanguage.${version}.GenerativeService.${method}`;
  return `${base.slice(0, base.length - segment.length)}/ws/${service}`;
}

/** The vendor's clients for JavaScript put both into the query, those for Python into headers. */
function headersOf(apiKey: string | null, isToken: boolean): Record<string, string> {
  if (apiKey === null) return {};
  return isToken ? { authorization: `Token ${apiKey}` } : { 'x-goog-api-key': apiKey };
}

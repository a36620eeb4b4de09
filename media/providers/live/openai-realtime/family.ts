// The OpenAI Realtime family: `/realtime` of a server whose base URL the catalog has.
import { socketBase } from '../address.ts';
import type { LiveFamily } from '../contract.ts';
import { createCodec } from './codec.ts';

export const openaiRealtime: LiveFamily = {
  name: 'openai-realtime',
  // The only rate of its PCM.
  inputRateHz: 24_000,
  address: ({ baseUrl, upstreamModel, apiKey }) => ({
    url: `${socketBase(baseUrl)}/realtime?model=${encodeURIComponent(upstreamModel)}`,
    headers: apiKey === null ? {} : { authorization: `Bearer ${apiKey}` },
  }),
  createCodec: (setup) => createCodec(setup),
};

// The legacy desktop format as a dialect: one public wire format that no provider speaks.
import type { Dialect } from '../contract.ts';
import { legacyReply } from './reply.ts';
import { readRequest } from './request.ts';
import type { LegacyRequestBody } from './schema.ts';
import { LegacyStreamEncoder } from './stream.ts';

export const legacyDialect: Dialect<LegacyRequestBody> = {
  name: 'legacy',
  keepAlive: ': keep-alive\n',
  readRequest,
  encoder: (identity, options) => new LegacyStreamEncoder(identity, options),
  whole: legacyReply,
};

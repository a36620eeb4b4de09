// Responses as a dialect: one public wire format.
import type { Dialect } from '../contract.ts';
import { readRequest } from './request.ts';
import { responseObject, statusOf } from './response.ts';
import type { ResponsesRequestBody } from './schema.ts';
import { ResponsesStreamEncoder } from './stream.ts';

export const responsesDialect: Dialect<ResponsesRequestBody> = {
  name: 'responses',
  // One newline only: a blank line after a comment breaks clients in the field.
  keepAlive: ': keep-alive\n',
  readRequest,
  encoder: (identity, options) => new ResponsesStreamEncoder(identity, options),
  whole: (identity, options, answer, receipt) =>
    responseObject(identity, options, answer, receipt, statusOf(answer)),
};

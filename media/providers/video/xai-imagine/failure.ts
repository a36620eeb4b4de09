// Errors of Grok Imagine, which has two envelopes: `{code, error: "text"}`, and that of OpenAI. A
// wrong key is a 400 here.
import { isMembers } from '../../../transport/members.ts';
import { readFailure as readChatFailure } from '../../generation/openai-chat/failure.ts';
import { upstreamIdOf } from '../submission.ts';
import { type ErrorForm, parsed, textOf, type VendorError } from '../vendor-error.ts';

const wrongKey = /^(incorrect|invalid) api key/i;

export const errorForm: ErrorForm = {
  errorIn,
  readFailure(status, headers, body) {
    const failure = readChatFailure(status, headers, body);
    const message = errorIn(parsed({ status, headers, body }))?.message ?? '';
    return status === 400 && wrongKey.test(message) ? { ...failure, status: 401 } : failure;
  },
};

export function errorIn(body: unknown): VendorError | null {
  if (!isMembers(body)) return null;
  const { error, code } = body;
  if (typeof error === 'string') return { code: textOf(code), message: error };
  if (!isMembers(error)) return null;
  return {
    code: textOf(error.code) || textOf(error.type) || textOf(code),
    message: textOf(error.message),
  };
}

export function idIn(body: unknown): string | null {
  return isMembers(body) ? upstreamIdOf(body.request_id) : null;
}

// Errors of servers that speak the format of OpenAI's videos: the vendor's envelope, vLLM's flat
// one, and `detail` of FastAPI, which both are built on.
import { isMembers } from '../../../transport/members.ts';
import { readFailure } from '../../generation/openai-chat/failure.ts';
import { upstreamIdOf } from '../submission.ts';
import { type ErrorForm, textOf, type VendorError } from '../vendor-error.ts';

export const errorForm: ErrorForm = { errorIn, readFailure };

function errorIn(body: unknown): VendorError | null {
  if (!isMembers(body)) return null;
  const { error, detail } = body;
  if (isMembers(error)) return vendorError(error);
  if (body.object === 'error') return vendorError(body);
  if (typeof detail === 'string') return { code: '', message: detail };
  return Array.isArray(detail) ? { code: 'validation', message: '' } : null;
}

export function vendorError({ code, type, message }: Record<string, unknown>): VendorError {
  return { code: textOf(code) || textOf(type), message: textOf(message) };
}

export function idIn(body: unknown): string | null {
  return isMembers(body) ? upstreamIdOf(body.id) : null;
}

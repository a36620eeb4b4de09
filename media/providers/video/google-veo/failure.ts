// Errors of the Gemini API (google.rpc.Status), in replies and in operations that are done.
import { isMembers } from '../../../transport/members.ts';
import { errorOf, readFailure } from '../../generation/gemini/failure.ts';
import { upstreamIdOf } from '../submission.ts';
import { type ErrorForm, textOf, type VendorError } from '../vendor-error.ts';

export const errorForm: ErrorForm = {
  errorIn(body) {
    const error = errorOf(body);
    return error === null ? null : vendorError(error);
  },
  readFailure,
};

/** The code is a number of google.rpc.Code in an operation, and the HTTP status in a reply. */
export function vendorError({ code, status, message }: Record<string, unknown>): VendorError {
  return { code: textOf(status) || textOf(code), message: textOf(message) };
}

export function idIn(body: unknown): string | null {
  return isMembers(body) ? upstreamIdOf(body.name) : null;
}

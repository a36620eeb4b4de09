// The reply of a query with an idempotency key, as its row has it. It is sealed under a key of the
// query's own. A dump of the database tells nobody what was found.
import type { Sealer } from '../../runtime/seal.ts';

/** What is stored of a finished query, to be told again. */
interface StoredReply {
  type: 'query';
  /** The body as base64. */
  sealed: string;
}

export interface ReplySeals {
  /** What the row is given. */
  seal(queryId: string, text: string): string;
  /** Null: it was sealed under a master key that is not there any more. */
  open(queryId: string, answerJson: string): string | null;
}

/** The first seals; the others open what they have sealed before. */
export function createReplySeals(sealers: readonly [Sealer, ...Sealer[]]): ReplySeals {
  const purposeOf = (queryId: string) => `query reply ${queryId}`;
  return {
    seal(queryId, text) {
      const sealed = sealers[0].bind(purposeOf(queryId)).seal(text).toString('base64');
      const stored: StoredReply = { type: 'query', sealed };
      return JSON.stringify(stored);
    },
    open(queryId, answerJson) {
      const { sealed } = JSON.parse(answerJson) as StoredReply;
      const bytes = Buffer.from(sealed, 'base64');
      for (const sealer of sealers) {
        try {
          return sealer.bind(purposeOf(queryId)).open(bytes);
        } catch {
          // Another master key has sealed it. The next one may be the right one.
        }
      }
      return null;
    },
  };
}

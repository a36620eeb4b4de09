// What tests of queries ask of a gateway: a query of an account, checked against the document.
import type { TestAccount } from '../../harness/account.ts';
import type { Contract, Reply } from '../../harness/contract.ts';

export interface Asked extends Reply {
  json: Record<string, unknown> & {
    charge_microcredits: number;
    request_id: string;
    replayed: boolean;
    normalized: {
      kind: string;
      items: { title: string }[];
      empty: boolean;
      partial: boolean;
      answer?: { text: string } | null;
      engines: { name: string; state: string }[];
      cache: { hit: boolean };
      ignored: string[];
    };
    error: { code: string; message: string; details?: Record<string, unknown> };
  };
}

export const bearer = ({ apiKey }: Pick<TestAccount, 'apiKey'>) => ({
  authorization: `Bearer ${apiKey}`,
});

export async function ask(
  contract: Contract,
  headers: Record<string, string>,
  body: Record<string, unknown>,
): Promise<Asked> {
  return (await contract.call('POST', '/api/v1/query', { headers, body })) as Asked;
}

let queries = 0;
/** A query that nobody has asked before. */
export function freshQuery(words = 'paper boats'): string {
  queries += 1;
  return `${words} ${queries} ${Date.now() % 1_000_000}`;
}

// What of the OAuth server goes by itself: codes and devices, tokens, and authorizations that are
// over. Each pass is bounded; the next one finds what is left.
import type { Sql } from '../../db/driver/sql.ts';
import {
  sweepAuthorizations,
  sweepCodes,
  sweepDevices,
  sweepTokens,
} from '../../db/oauth/sweep.ts';
import type { OAuthLimits } from './limits.ts';

const pageLength = 500;
const pagesMax = 200;

export interface SweptOAuth {
  codesForgotten: number;
  devicesForgotten: number;
  tokensForgotten: number;
  authorizationsForgotten: number;
}

type SweepPage = (sql: Sql, keptSeconds: number, limit: number) => Promise<number>;

export async function sweepOAuth(
  sql: Sql,
  { codesKeptSeconds, tokensKeptSeconds }: OAuthLimits,
): Promise<SweptOAuth> {
  return {
    codesForgotten: await sweepPages(sql, sweepCodes, codesKeptSeconds),
    devicesForgotten: await sweepPages(sql, sweepDevices, codesKeptSeconds),
    tokensForgotten: await sweepPages(sql, sweepTokens, tokensKeptSeconds),
    authorizationsForgotten: await sweepPages(sql, sweepAuthorizations, tokensKeptSeconds),
  };
}

async function sweepPages(sql: Sql, sweepPage: SweepPage, keptSeconds: number): Promise<number> {
  let total = 0;
  for (let page = 0; page < pagesMax; page += 1) {
    const forgotten = await sweepPage(sql, keptSeconds, pageLength);
    total += forgotten;
    if (forgotten < pageLength) break;
  }
  return total;
}

// Whatever holds funds: a new holder is a row here, and its rows stand in `db/ledger/holders.ts`.
import assert from 'node:assert/strict';
import { holderRows } from '../../db/ledger/holders.ts';
import { generationHolder } from '../billed-request/holder.ts';
import { videoJobHolder } from '../video/holder.ts';
import { voiceSessionHolder } from '../voice/holder.ts';
import { createHolders } from './holder.ts';

export const holders = createHolders([generationHolder, voiceSessionHolder, videoJobHolder]);

assert.deepEqual(
  holders.all.map(({ rows }) => rows),
  holderRows,
  'the ledger writes the parts of the same holders in the same order',
);

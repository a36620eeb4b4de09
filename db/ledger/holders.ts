// Whatever holds funds, in the order of its parts in the ledger's statement.
import { generationRows } from '../generations.ts';
import { videoJobRows } from '../video-jobs/rows.ts';
import { voiceSessionRows } from '../voice/sessions.ts';
import type { HolderRows } from './holder.ts';

export const holderRows: readonly HolderRows[] = [generationRows, voiceSessionRows, videoJobRows];

// What of apps routes may use.
import type { AccountNoticeCache } from './account-notices.ts';
import type { Activity } from './activity.ts';
import type { BoardView } from './board.ts';
import type { ErrorWriter } from './error-writer.ts';

export interface AppServices {
  board: BoardView;
  notices: AccountNoticeCache;
  activity: Activity;
  errors: ErrorWriter;
}

// Whose turn it is, pure: the states that a client is shown, and the moves between them
// (decisions.md, section 7). A state is shown as often as it is entered, never twice in a row.

export type TurnState = 'connecting' | 'listening' | 'thinking' | 'speaking' | 'ended';

const moves: Readonly<Record<TurnState, readonly TurnState[]>> = {
  connecting: ['listening', 'ended'],
  listening: ['thinking', 'ended'],
  thinking: ['speaking', 'listening', 'ended'],
  speaking: ['listening', 'thinking', 'ended'],
  ended: [],
};

/** Whether one state may follow the other at once. */
export function isMove(from: TurnState, to: TurnState): boolean {
  return moves[from].includes(to);
}

/**
 * The states to go through from one to another, the last one included: an upstream may speak
 * without having thought. Empty: they are the same, or there is no way.
 */
export function wayTo(from: TurnState, to: TurnState): readonly TurnState[] {
  if (from === to) return [];
  if (isMove(from, to)) return [to];
  if (from === 'listening' && to === 'speaking') return ['thinking', 'speaking'];
  return [];
}

/** What is known of the answer that runs, and of its sound. */
export interface AnswerProgress {
  /** An answer was begun (or the user has just stopped speaking), and its end did not come. */
  isAwaited: boolean;
  /** Sound of it waits, or was sent and is being played. */
  isHeard: boolean;
}

/** The state that these facts mean, once a session is connected. */
export function stateOf({ isAwaited, isHeard }: AnswerProgress): TurnState {
  if (isHeard) return 'speaking';
  return isAwaited ? 'thinking' : 'listening';
}

// How a surface stands by its canary: one round that goes wrong says nothing yet, two in a row do.
// Shards are told the whole list of surfaces that do not stand well.

/** Bus topic of `SurfaceStanding[]`. */
export const standingsTopic = 'surface-standings';

export type Standing = 'well' | 'degraded' | 'unavailable';

export interface SurfaceStanding {
  surface: string;
  /** A surface with other targets has another one, of which nothing is known. */
  version: string;
  standing: Standing;
}

/** A round found the host, found something else, or nothing at all. */
export type CanaryOutcome = 'expected' | 'missed' | 'nothing';

export interface Course {
  standing: Standing;
  /** Counts the rounds in a row without the host, and the last of them that found nothing. */
  missed: number;
  empty: number;
}

export const newCourse: Course = { standing: 'well', missed: 0, empty: 0 };

const roundsToTell = 2;

export function afterRound(before: Course, outcome: CanaryOutcome): Course {
  if (outcome === 'expected') return newCourse;
  const missed = before.missed + 1;
  const empty = outcome === 'nothing' ? before.empty + 1 : 0;
  if (empty >= roundsToTell) return { standing: 'unavailable', missed, empty };
  if (missed < roundsToTell) return { standing: before.standing, missed, empty };
  // Nothing for the first time: it is not better than it was.
  const isDown = before.standing === 'unavailable' && outcome === 'nothing';
  return { standing: isDown ? 'unavailable' : 'degraded', missed, empty };
}

/** A thread keeps what it was told last. */
export interface Standings {
  of(surface: { name: string; version: string }): Standing;
  set(told: readonly SurfaceStanding[]): void;
}

export function createStandings(): Standings {
  let known = new Map<string, SurfaceStanding>();
  return {
    of({ name, version }) {
      const told = known.get(name);
      return told?.version === version ? told.standing : 'well';
    },
    set(told) {
      known = new Map(told.map((each) => [each.surface, each]));
    },
  };
}

// The canaries of a process, on its main thread. Each process looks for itself: its own way to the
// providers is what counts. It tells all its shards, and the operator by the log.
import { createHash } from 'node:crypto';
import type { Logger } from '../../../runtime/log.ts';
import type { Bus } from '../../../runtime/work/bus.ts';
import { repeat } from '../../../runtime/work/repeat.ts';
import type { Canary, CatalogSurface } from '../../catalog/surface.ts';
import { canaryLimits } from './limits.ts';
import { type AskTarget, askCanary } from './round.ts';
import { afterRound, type Course, newCourse, standingsTopic } from './standing.ts';

export interface CanaryOptions {
  surfaces(): readonly CatalogSurface[];
  askTarget: AskTarget;
  bus: Pick<Bus, 'publish'>;
  clock(): number;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
}

interface Watched extends Course {
  version: string;
  /** It covers credentials and the query: of another one nothing is known. */
  identity: string;
  askedAtMs: number;
}

type WithCanary = CatalogSurface & { canary: Canary };

export function createCanaries(options: CanaryOptions) {
  const { surfaces, clock, bus, log } = options;
  const watched = new Map<string, Watched>();
  const controller = new AbortController();
  let end = () => {};

  /** Asks the canaries that are due, one after the other, and tells what came of it. */
  async function look(): Promise<void> {
    const current = surfaces().filter(hasCanary);
    const names = new Set(current.map(({ name }) => name));
    for (const name of watched.keys()) if (!names.has(name)) watched.delete(name);
    for (const surface of current) {
      if (controller.signal.aborted) return;
      const known = knownOf(surface, watched);
      if (!isDue(surface, known, clock())) continue;
      const outcome = await askCanary(
        surface,
        surface.canary,
        options.askTarget,
        controller.signal,
      );
      if (controller.signal.aborted) return;
      if (outcome === null) log.warn({ surface: surface.name }, 'a canary cannot be asked');
      const course = outcome === null ? known : afterRound(known, outcome);
      watched.set(surface.name, { ...known, ...course, askedAtMs: clock() });
      tell(surface.name, known.standing, course.standing);
    }
    await publish();
  }

  function tell(surface: string, before: Course['standing'], now: Course['standing']): void {
    if (before === now) return;
    if (now === 'unavailable') log.error({ surface }, 'provider.down');
    else if (now === 'degraded') log.warn({ surface }, 'surface.degraded');
    else log.info({ surface }, 'surface.well');
  }

  /** Always the whole list: a shard that came back has heard none. */
  async function publish(): Promise<void> {
    const told = [...watched]
      .filter(([, { standing }]) => standing !== 'well')
      .map(([surface, { version, standing }]) => ({ surface, version, standing }));
    await bus.publish(standingsTopic, told);
  }

  return {
    look,
    schedule(): void {
      end = repeat('canaries', canaryLimits.lookMs, look, log);
    },
    async stop(): Promise<void> {
      end();
      controller.abort();
    },
  };
}

function hasCanary(surface: CatalogSurface): surface is WithCanary {
  return surface.canary !== null && surface.targets.length > 0;
}

function knownOf(surface: WithCanary, watched: ReadonlyMap<string, Watched>): Watched {
  const identity = identityOf(surface);
  const known = watched.get(surface.name);
  if (known?.identity === identity) return known;
  return { ...newCourse, version: surface.version, identity, askedAtMs: Number.NEGATIVE_INFINITY };
}

/** A clock that was set back makes it due as well. */
function isDue({ canary }: WithCanary, { askedAtMs }: Watched, nowMs: number): boolean {
  const sinceMs = nowMs - askedAtMs;
  return sinceMs < 0 || sinceMs >= canary.everyMinutes * 60_000 - canaryLimits.lookMs / 2;
}

function identityOf({ version, targets, canary }: WithCanary): string {
  const places = targets.map(({ upstream }) => [
    upstream.routeId,
    upstream.baseUrl,
    upstream.apiKey,
  ]);
  return createHash('sha256')
    .update(JSON.stringify([version, places, canary]))
    .digest('hex');
}

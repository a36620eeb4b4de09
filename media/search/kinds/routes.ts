// Ways from one place to another: how long each takes, and its legs.
import * as v from 'valibot';
import type { Reading } from '../contract.ts';
import { meters, seconds, shownText, time } from '../fields.ts';
import {
  itemEntries,
  known,
  listOf,
  type ReadItem,
  type ReadingContext,
  readBase,
  titleMax,
} from '../item.ts';
import { timeOf } from '../values/date.ts';
import { distanceOf, durationOf } from '../values/duration.ts';
import { textOf } from '../values/text.ts';

const legsMax = 200;
const instructionMax = 300;
const modes = ['driving', 'transit', 'walking', 'cycling'] as const;
type Mode = (typeof modes)[number];
const modeWords: Readonly<Record<string, Mode>> = {
  ...{ drive: 'driving', car: 'driving', walk: 'walking', bicycling: 'cycling' },
  ...{ bike: 'cycling', bicycle: 'cycling', 'public transport': 'transit' },
};

export const routesItem = v.pipe(
  v.strictObject({
    ...itemEntries,
    duration_seconds: seconds,
    distance_meters: v.exactOptional(meters),
    mode: v.exactOptional(v.picklist(modes)),
    departs_at: v.exactOptional(time),
    arrives_at: v.exactOptional(time),
    legs: v.exactOptional(
      v.pipe(
        v.array(
          v.strictObject({
            instruction: shownText(instructionMax),
            distance_meters: v.exactOptional(meters),
            duration_seconds: v.exactOptional(seconds),
          }),
        ),
        v.minLength(1),
        v.maxLength(legsMax),
      ),
    ),
  }),
  v.title('RoutesItem'),
);

export function readRoute(reading: Reading, context: ReadingContext): ReadItem | null {
  const duration = durationOf(reading.durationSeconds);
  if (duration === undefined) return null;
  const { title, ...base } = readBase(reading, context);
  const { routes } = context.ask.parameters;
  const own = known({
    distance_meters: distanceOf(reading.distanceMeters),
    mode: modeOf(reading.mode) ?? routes?.mode,
    departs_at: timeOf(reading.departsAt, context.nowMs),
    arrives_at: timeOf(reading.arrivesAt, context.nowMs),
    legs: legsOf(reading.legs),
  });
  const asked = routes === null ? context.ask.query : `${routes.origin} – ${routes.destination}`;
  const name = title ?? textOf(asked, titleMax);
  if (name === undefined) return null;
  const item = { title: name, ...base, duration_seconds: duration, ...own };
  return { item, same: JSON.stringify(item) };
}

function modeOf(value: unknown): Mode | undefined {
  if (typeof value !== 'string') return undefined;
  const word = value.trim().toLowerCase();
  const mode = modes.find((each) => each === word);
  return mode ?? (Object.hasOwn(modeWords, word) ? modeWords[word] : undefined);
}

interface Leg {
  instruction: string;
  distance_meters?: number;
  duration_seconds?: number;
}

function legsOf(value: unknown): Leg[] | undefined {
  const legs: Leg[] = [];
  for (const leg of listOf(value)) {
    if (legs.length === legsMax) break;
    if (typeof leg !== 'object' || leg === null) continue;
    const given: { instruction?: unknown; distanceMeters?: unknown; durationSeconds?: unknown } =
      leg;
    const instruction = textOf(given.instruction, instructionMax);
    if (instruction === undefined) continue;
    const measures = known({
      distance_meters: distanceOf(given.distanceMeters),
      duration_seconds: durationOf(given.durationSeconds),
    });
    legs.push({ instruction, ...measures });
  }
  return legs.length === 0 ? undefined : legs;
}

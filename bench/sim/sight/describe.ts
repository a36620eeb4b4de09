// What a simulated model that sees says of the frames of a video: by rules, from their pixels.
import { instanceOf } from '../instance.ts';
import { isMembers } from '../members.ts';
import { readNumber } from './digits.ts';
import { readLuma } from './jpeg.ts';
import type { ShownPicture } from './pictures.ts';

interface Run {
  what: string;
  start: number;
  end: number;
}

/**
 * The answer to a schema that has segments; null: the schema asks for something else, or no picture
 * has a time in front of it. `isWrong`: with segments behind the end of everything.
 */
export function describePictures(
  pictures: readonly ShownPicture[],
  schema: unknown,
  isWrong: boolean,
): Record<string, unknown> | null {
  if (!isMembers(schema) || !isMembers(schema.properties)) return null;
  if (schema.properties.segments === undefined) return null;
  const runs = runsOf(pictures);
  if (runs.length === 0) return null;
  const made = instanceOf(schema);
  if (!isMembers(made)) return null;
  const seen = runs.map(({ what }) => what).join(', ');
  return {
    ...made,
    summary: `One after the other: ${seen}.`,
    segments: runs.map(({ what, start, end }) => ({
      start_seconds: start + (isWrong ? 10_000 : 0),
      end_seconds: end + (isWrong ? 10_000 : 0),
      description: what,
    })),
  };
}

/** Pictures of the same thing are one run. */
function runsOf(pictures: readonly ShownPicture[]): Run[] {
  const runs: Run[] = [];
  for (const { before, jpeg } of pictures) {
    const seconds = Number(/(\d+(?:\.\d+)?) ?s\b/.exec(before)?.[1] ?? Number.NaN);
    if (Number.isNaN(seconds)) continue;
    const what = nameOf(jpeg);
    const last = runs.at(-1);
    if (last?.what === what) last.end = seconds;
    else runs.push({ what, start: seconds, end: seconds });
  }
  return runs;
}

function nameOf(jpeg: Buffer): string {
  const picture = readLuma(jpeg);
  if (picture === null) return 'something that cannot be seen';
  const number = readNumber(picture);
  return number === null ? 'a picture without a number' : `the number ${number}`;
}

// Parameters of routes. Both places may stand in the query: `A to B`, `A -> B`.
import type { RouteParameters } from '../contract.ts';
import { takeMoment } from './days.ts';
import { takeList, takeText, takeWord } from './forms.ts';
import { assume, type Parameters, refuse, refuseAt } from './given.ts';
import { valueCharactersMax } from './names.ts';

const modes = ['driving', 'transit', 'walking', 'cycling'] as const;
const avoidable = ['highways', 'tolls', 'ferries'] as const;
/** An arrow says it without doubt. */
const marks = [/->/, /→/, /\sto\s/i];

/** Null: there is a fault. */
export function readRoutes(parameters: Parameters, query: string): RouteParameters | null {
  const places = readPlaces(parameters, query);
  const departAt = takeMoment(parameters, 'depart_at');
  const arriveBy = takeMoment(parameters, 'arrive_by');
  if (departAt !== null && arriveBy !== null) {
    refuse(parameters, 'arrive_by', 'to be given without depart_at');
  }
  const mode = takeWord(parameters, 'mode', modes) ?? assume(parameters, 'mode', 'driving');
  const avoid = readAvoid(parameters);
  return places === null ? null : { ...places, mode, departAt, arriveBy, avoid };
}

function readPlaces(
  parameters: Parameters,
  query: string,
): { origin: string; destination: string } | null {
  const origin = takeText(parameters, 'origin');
  const destination = takeText(parameters, 'destination');
  if (origin !== null && destination !== null) return { origin, destination };
  const [from, to] = splitPlaces(query);
  const hasNone = !parameters.given.has('origin') && !parameters.given.has('destination');
  if (hasNone && from === undefined) {
    const message = "Two places cannot be read from 'query': expected them as in Bern to Basel.";
    return refuseAt(parameters, 'query', message);
  }
  const [first, second] = [origin ?? from, destination ?? to];
  if (first === undefined) return refuse(parameters, 'origin', 'a place');
  return second === undefined
    ? refuse(parameters, 'destination', 'a place')
    : { origin: first, destination: second };
}

/** Nobody knows which of two marks parts the places. */
function splitPlaces(query: string): [string, string] | [] {
  for (const mark of marks) {
    const [first, second, ...more] = query.split(mark).map((part) => part.trim());
    if (second === undefined) continue;
    const origin = first?.replace(/^from\s+/i, '') ?? '';
    const isGood = more.length === 0 && [origin, second].every(isPlace);
    return isGood ? [origin, second] : [];
  }
  return [];
}

function isPlace(text: string): boolean {
  return text !== '' && [...text].length <= valueCharactersMax;
}

function readAvoid(parameters: Parameters): (typeof avoidable)[number][] {
  const avoid = new Set<(typeof avoidable)[number]>();
  for (const each of takeList(parameters, 'avoid') ?? []) {
    const word = avoidable.find((name) => name === String(each).toLowerCase());
    if (word === undefined) refuse(parameters, 'avoid', `some of ${avoidable.join(', ')}`);
    else avoid.add(word);
  }
  return [...avoid];
}

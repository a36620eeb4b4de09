// Items as what they are: pages, pictures, prices, places, ways and flights. Nothing of an item is
// loaded before a click, and its text is never markup.
import { button, make } from './dom.ts';
import { dateText, distanceText, durationText, priceText, timeText } from './text.ts';
import type { Item, Leg, Segment } from './wire.ts';

/** Each kind shows what it has, in this order. */
export function itemOf(item: Item): HTMLLIElement {
  const shown = make('li', { className: 'item' });
  shown.id = `item-${item.position}`;
  shown.append(titleOf(item));
  const facts = factsOf(item);
  if (facts.length > 0) shown.append(make('p', { className: 'meta', text: facts.join(' · ') }));
  const text = item.content ?? item.snippet;
  if (text !== undefined) shown.append(make('p', { className: 'snippet', text }));
  if (item.segments !== undefined) shown.append(segmentsOf(item.segments));
  if (item.legs !== undefined && item.legs.length > 0) shown.append(legsOf(item.legs));
  const links = linksOf(item);
  if (links !== null) shown.append(links);
  const picture = item.image_url ?? item.thumbnail;
  if (picture !== undefined) shown.append(pictureOf(picture, item.title));
  return shown;
}

function titleOf({ title, url }: Item): HTMLHeadingElement {
  return make('h3', {}, url === undefined ? title : linkOf(url, title));
}

function linkOf(url: string, text: string): HTMLElement {
  // The service answers with http and https alone; another scheme is not followed from here.
  if (!/^https?:\/\//i.test(url)) return make('span', { text });
  const link = make('a', { text });
  link.href = url;
  link.rel = 'noopener noreferrer nofollow';
  link.target = '_blank';
  return link;
}

/** Figures in one line. */
function factsOf(item: Item): string[] {
  return [
    item.price === undefined ? null : priceText(item.price),
    item.price_per_night === undefined ? null : `${priceText(item.price_per_night)} a night`,
    item.total_price === undefined ? null : `${priceText(item.total_price)} in all`,
    item.hotel_class === undefined ? null : `${item.hotel_class} stars`,
    ratingText(item),
    item.category,
    item.address,
    placeText(item),
    item.phone,
    item.mode,
    item.duration_seconds === undefined ? null : durationText(item.duration_seconds),
    item.total_duration_minutes === undefined
      ? null
      : durationText(item.total_duration_minutes * 60),
    item.stops === undefined ? null : stopsText(item.stops),
    item.carbon_grams === undefined ? null : `${Math.round(item.carbon_grams / 1_000)} kg CO₂`,
    item.distance_meters === undefined ? null : distanceText(item.distance_meters),
    item.departs_at === undefined ? null : `leaves ${timeText(item.departs_at)}`,
    item.arrives_at === undefined ? null : `arrives ${timeText(item.arrives_at)}`,
    authorsText(item),
    item.venue,
    item.year === undefined ? null : `${item.year}`,
    item.cited_by === undefined ? null : `cited ${item.cited_by} times`,
    item.width === undefined ? null : `${item.width} × ${item.height ?? '?'}`,
    item.seller,
    item.channel,
    item.source ?? (item.url === undefined ? null : hostOf(item.url)),
    dateText(item),
    item.score === undefined ? null : `score ${item.score.toFixed(2)}`,
    item.amenities?.slice(0, 6).join(', '),
  ].flatMap((fact) => (typeof fact === 'string' && fact !== '' ? [fact] : []));
}

function ratingText({ rating, rating_count }: Item): string | null {
  if (rating === undefined) return null;
  return rating_count === undefined ? `${rating} of 5` : `${rating} of 5 (${rating_count})`;
}

function placeText({ latitude, longitude }: Item): string | null {
  if (latitude === undefined || longitude === undefined) return null;
  return `${latitude.toFixed(5)}, ${longitude.toFixed(5)}`;
}

function authorsText({ authors }: Item): string | null {
  if (authors === undefined) return null;
  return typeof authors === 'string' ? authors : authors.join(', ');
}

const stopsText = (stops: number) =>
  stops === 0 ? 'direct' : `${stops} ${stops === 1 ? 'stop' : 'stops'}`;

function linksOf({ website, pdf_url }: Item): HTMLElement | null {
  const links = [
    ...(website === undefined ? [] : [linkOf(website, 'Website')]),
    ...(pdf_url === undefined ? [] : [linkOf(pdf_url, 'PDF')]),
  ];
  return links.length === 0 ? null : make('p', { className: 'links' }, ...links);
}

/** A flight as its legs. */
function segmentsOf(segments: readonly Segment[]): HTMLElement {
  return make(
    'ol',
    { className: 'legs' },
    ...segments.map((segment) => {
      const { from, to, departs_at, arrives_at, airline, flight_number, duration_minutes } =
        segment;
      const times = [departs_at, arrives_at].flatMap((time) => (time ? [timeText(time)] : []));
      const rest = [
        times.join(' → '),
        [airline, flight_number].filter(Boolean).join(' '),
        segment.aircraft,
        segment.travel_class,
        duration_minutes === undefined ? '' : durationText(duration_minutes * 60),
      ].filter((part) => part !== undefined && part !== '');
      return make(
        'li',
        {},
        make('strong', { text: `${from} → ${to}` }),
        make('span', { className: 'meta', text: rest.join(' · ') }),
      );
    }),
  );
}

function legsOf(legs: readonly Leg[]): HTMLElement {
  const summary = make('summary', { text: `${legs.length} steps` });
  const steps = legs.map(({ instruction = 'Go on', distance_meters, duration_seconds }) => {
    const far = distance_meters === undefined ? [] : [distanceText(distance_meters)];
    const long = duration_seconds === undefined ? [] : [durationText(duration_seconds)];
    const rest = [...far, ...long].join(' · ');
    return make('li', {}, instruction, make('span', { className: 'meta', text: rest }));
  });
  return make('details', {}, summary, make('ol', { className: 'legs' }, ...steps));
}

function pictureOf(url: string, title: string): HTMLElement {
  const box = make('div', { className: 'picture' });
  const host = hostOf(url);
  const show = button(`Load the picture from ${host}`, () => {
    const picture = make('img');
    picture.referrerPolicy = 'no-referrer';
    picture.alt = title;
    picture.tabIndex = -1;
    picture.addEventListener('error', () => {
      box.replaceChildren(make('p', { className: 'meta', text: 'The picture cannot be loaded.' }));
    });
    picture.src = url;
    box.replaceChildren(picture);
    picture.focus();
  });
  show.setAttribute('aria-label', `Load the picture of ${title} from ${host}`);
  box.append(show);
  return box;
}

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return 'its host';
  }
}

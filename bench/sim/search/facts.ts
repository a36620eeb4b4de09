// What is known of a result beside its page: the same picture, place, price and paper whatever
// family tells of it.
import type { SearchResult } from '../results.ts';

export function pictureOf({ domain, hash }: SearchResult) {
  return {
    imageUrl: `https://${domain}/images/${hash}.jpg`,
    width: 640 + (hash % 640),
    height: 480 + (hash % 480),
    thumbnailUrl: `https://${domain}/thumbnails/${hash}.jpg`,
  };
}

export function videoOf({ hash }: SearchResult) {
  const minutes = hash % 60;
  const seconds = hash % 59;
  return {
    seconds: minutes * 60 + seconds,
    length: `${minutes}:${String(seconds).padStart(2, '0')}`,
    channel: 'Simulated channel',
  };
}

const hours = '9 AM–5 PM';
const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday'];

export function placeOf({ link, hash }: SearchResult) {
  return {
    address: `${(hash % 200) + 1} Example Street`,
    latitude: (hash % 18_000) / 100 - 90,
    longitude: ((hash >>> 3) % 36_000) / 100 - 180,
    rating: 3 + (hash % 20) / 10,
    ratingCount: hash % 5_000,
    category: 'Simulated place',
    /** Half of them have neither. */
    phone: hash % 2 === 0 ? '+1 555-0100' : null,
    website: hash % 2 === 0 ? link : null,
    openingHours: Object.fromEntries(weekdays.map((day) => [day, hours])),
    cid: String(hash),
    placeId: `ChIJ${hash.toString(36)}`,
  };
}

export function productOf({ hash }: SearchResult) {
  const dollars = ((hash % 50_000) + 1) / 100;
  return { dollars, price: `$${dollars.toFixed(2)}`, ratingCount: hash % 900, id: String(hash) };
}

export function paperOf({ link, domain, hash }: SearchResult) {
  const year = 2026 - (hash % 30);
  return {
    authors: ['A Author', 'B Author'],
    year,
    venue: 'Journal of Simulation',
    summary: `A Author, B Author - Journal of Simulation, ${year} - ${domain}`,
    citedBy: hash % 3_000,
    pdfUrl: hash % 2 === 0 ? `${link}.pdf` : null,
    id: `paper-${hash.toString(36)}`,
  };
}

// SearXNG's map results. Telephone, hours and website have no members: they stand among tags of the
// map and links, whose labels are translated.
import type { Reading } from '../../../search/contract.ts';
import { isMembers, type Members } from '../../../transport/members.ts';
import { entriesOf, textOf } from '../reading.ts';

const telephone = 'tel:';

export function placeOf(entry: Members): Reading {
  const { title, url, content, latitude, longitude, type, address } = entry;
  const links = entriesOf(entry.links);
  return {
    title,
    url,
    snippet: content,
    latitude,
    longitude,
    category: type,
    address: addressOf(address),
    phone: tagOf(entry, ['phone', 'contact:phone']) ?? telephoneOf(links),
    openingHours: tagOf(entry, ['opening_hours']),
    website: websiteOf(links),
    thumbnail: textOf(entry.thumbnail) ?? entry.img_src,
  };
}

/** `12 Main Street, 8000 Zurich, Switzerland`. */
function addressOf(address: unknown): unknown {
  if (!isMembers(address)) return address;
  const joined = (names: string[]) => names.flatMap((name) => wordsOf(address[name])).join(' ');
  const lines = [['house_number', 'road'], ['postcode', 'locality'], ['country']].map(joined);
  const text = lines.filter((line) => line !== '').join(', ');
  return text === '' ? undefined : text;
}

function wordsOf(value: unknown): string[] {
  if (typeof value === 'number') return [String(value)];
  const text = textOf(value);
  return text === undefined ? [] : [text.trim()];
}

function tagOf({ data }: Members, keys: string[]): unknown {
  return entriesOf(data).find(({ key }) => keys.includes(textOf(key) ?? ''))?.value;
}

function telephoneOf(links: Members[]): string | undefined {
  const found = links.map(({ url }) => textOf(url)).find((url) => url?.startsWith(telephone));
  return found?.slice(telephone.length);
}

/** Links to encyclopedias and the like are called otherwise than their address. */
function websiteOf(links: Members[]): unknown {
  return links.find(({ url, url_label }) => textOf(url) !== undefined && url === url_label)?.url;
}

// Renders search results in the shape of each kind of search. Optional members come and go with the
// result, as they do in the field.
import type { Members } from '../members.ts';
import type { SearchDirective } from '../search/directive.ts';
import { paperOf, pictureOf, placeOf, productOf, videoOf } from '../search/facts.ts';
import type { Found } from '../search/found.ts';
import { topicOf } from '../search/query.ts';
import { creditsOf, findFor, type SerperRequest } from './request.ts';

export const searchKinds = [
  'search',
  'images',
  'news',
  'videos',
  'maps',
  'places',
  'shopping',
  'scholar',
  'autocomplete',
] as const;

export type SearchKind = (typeof searchKinds)[number];

export function wholeSearch(
  request: SerperRequest,
  directive: SearchDirective,
  kind: SearchKind,
): Members {
  const { q, gl, hl, num, page, autocorrect, location, tbs } = request;
  return {
    searchParameters: {
      q,
      gl,
      hl,
      type: kind,
      num,
      page,
      autocorrect,
      ...(location === null ? {} : { location }),
      ...(tbs === null ? {} : { tbs }),
      engine: 'google',
    },
    ...bodies[kind](request, findFor(request, directive), directive),
    credits: creditsOf(request),
  };
}

type Body = (request: SerperRequest, results: Found[], directive: SearchDirective) => Members;

const bodies: Readonly<Record<SearchKind, Body>> = {
  search: searchBody,
  images: (_, results) => ({ images: results.map(image) }),
  news: (_, results) => ({ news: results.map(news) }),
  videos: (_, results) => ({ videos: results.map(video) }),
  maps: ({ ll }, results) => ({ ll: ll ?? '@0,0,14z', places: results.map(mapPlace) }),
  places: (_, results) => ({ places: results.map(place) }),
  shopping: (_, results) => ({ shopping: results.map(product) }),
  scholar: (_, results) => ({ organic: results.map(paper) }),
  autocomplete: ({ q }, results) => ({
    suggestions: results.map(({ isBad, place }) =>
      isBad ? {} : { value: `${topicOf(q).text} ${place}` },
    ),
  }),
};

function searchBody(
  { q, page }: SerperRequest,
  results: Found[],
  { isPartial }: SearchDirective,
): Members {
  const [first] = results;
  if (first === undefined) return { organic: [], peopleAlsoAsk: [], relatedSearches: [] };
  const { title, link, snippet, hash, isBad } = first;
  const { text } = topicOf(q);
  const answerBox = { title, snippet, link };
  const peopleAlsoAsk = [{ question: `What is ${text}?`, snippet, title, link }];
  // The list itself is what is missing.
  if (isPartial) return { answerBox, peopleAlsoAsk };
  const knowledgeGraph = {
    title: text,
    type: 'Simulated topic',
    website: link,
    description: snippet,
    descriptionSource: 'Compendium',
    descriptionLink: link,
    attributes: { Known: `${hash % 100} years` },
  };
  return {
    ...(hash % 3 === 0 && !isBad ? { answerBox } : {}),
    ...(hash % 2 === 0 && page === 1 ? { knowledgeGraph } : {}),
    organic: results.map(organicResult),
    peopleAlsoAsk,
    relatedSearches: [{ query: `${text} meaning` }, { query: `${text} today` }],
  };
}

function linkOf({ link, isBad }: Found): Members {
  return isBad ? {} : { link };
}

function organicResult(result: Found, index: number): Members {
  const { title, link, snippet, date, hash } = result;
  const sitelinks = [{ title: 'More', link: `${link}/more` }];
  return {
    title,
    ...linkOf(result),
    snippet,
    ...(hash % 2 === 0 ? { date } : {}),
    ...(hash % 5 === 0 ? { sitelinks } : {}),
    ...(hash % 7 === 0 ? { rating: 4.5, ratingCount: hash % 400 } : {}),
    position: index + 1,
  };
}

function image(result: Found, index: number): Members {
  const { title, domain, hash, isBad } = result;
  const { imageUrl, width, height, thumbnailUrl } = pictureOf(result);
  return {
    title,
    ...(isBad ? {} : { imageUrl }),
    imageWidth: width,
    imageHeight: height,
    thumbnailUrl,
    thumbnailWidth: 160,
    thumbnailHeight: 120,
    source: domain,
    domain,
    ...linkOf(result),
    googleUrl: `https://search.example.com/imgres?imgurl=${hash}`,
    position: index + 1,
  };
}

function news(result: Found, index: number): Members {
  const { title, snippet, domain, ageDays } = result;
  return {
    title,
    ...linkOf(result),
    snippet,
    date: `${ageDays + 1} days ago`,
    source: domain,
    imageUrl: pictureOf(result).imageUrl,
    position: index + 1,
  };
}

function video(result: Found, index: number): Members {
  const { title, snippet, domain, date, hash } = result;
  const { length, channel } = videoOf(result);
  return {
    title,
    ...linkOf(result),
    snippet,
    imageUrl: pictureOf(result).thumbnailUrl,
    ...(hash % 2 === 0 ? { videoUrl: `https://${domain}/videos/${hash}.mp4` } : {}),
    duration: length,
    source: domain,
    channel,
    date,
    position: index + 1,
  };
}

function place(result: Found, index: number): Members {
  const { address, latitude, longitude, rating, ratingCount, category, phone, website, cid } =
    placeOf(result);
  return {
    position: index + 1,
    ...(result.isBad ? {} : { title: result.title }),
    address,
    latitude,
    longitude,
    thumbnailUrl: pictureOf(result).thumbnailUrl,
    rating,
    ratingCount,
    category,
    ...(phone === null ? {} : { phoneNumber: phone }),
    ...(website === null ? {} : { website }),
    cid,
  };
}

/** More of the same place than /places tells. */
function mapPlace(result: Found, index: number): Members {
  const { category, openingHours, placeId, cid } = placeOf(result);
  const { category: _, ...known } = place(result, index);
  return {
    ...known,
    ...(result.hash % 3 === 0 ? { priceLevel: '$$' } : {}),
    type: category,
    types: [category, 'Point of interest'],
    openingHours,
    fid: `0x0:0x${Number(cid).toString(16)}`,
    placeId,
  };
}

function product(result: Found, index: number): Members {
  const { title, domain, hash, isBad } = result;
  const { price, ratingCount, id } = productOf(result);
  return {
    ...(isBad ? {} : { title }),
    source: domain,
    ...linkOf(result),
    price,
    ...(hash % 3 === 0 ? { delivery: 'Free delivery' } : {}),
    imageUrl: pictureOf(result).imageUrl,
    ...(hash % 2 === 0 ? { rating: 4.2, ratingCount } : {}),
    offers: String((hash % 9) + 1),
    productId: id,
    position: index + 1,
  };
}

/** Half of them as clients read them, half in the older form. */
function paper(result: Found): Members {
  const { title, link, snippet, hash, isBad } = result;
  const { summary, year, citedBy, pdfUrl, id } = paperOf(result);
  const isOld = hash % 4 < 2;
  return {
    ...(isBad ? {} : { title, link }),
    publicationInfo: isOld ? summary : { summary },
    snippet,
    year: isOld ? year : String(year),
    citedBy: isOld ? citedBy : { total: citedBy, link: `${link}/citing` },
    ...(pdfUrl === null ? {} : { pdfUrl }),
    id,
  };
}

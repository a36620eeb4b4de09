// Renders search results in the shape of each kind of search. Optional members come and go with the
// result, as they do in the field.
import type { Members } from '../members.ts';
import { dateOf, resultOf, type SearchResult } from '../results.ts';
import { creditsOf, type SerperRequest } from './request.ts';

export type SearchKind =
  | 'search'
  | 'images'
  | 'news'
  | 'videos'
  | 'places'
  | 'shopping'
  | 'scholar'
  | 'autocomplete';

export function wholeSearch(request: SerperRequest, kind: SearchKind): Members {
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
    ...bodies[kind](request, resultsOf(request)),
    credits: creditsOf(request),
  };
}

const ageDaysMax: Readonly<Record<string, number>> = { h: 1, d: 1, w: 7, m: 30, y: 365 };

function resultsOf({ topic, num, page, tbs, directive }: SerperRequest): SearchResult[] {
  const limit = ageDaysMax[/^qdr:([hdwmy])/.exec(tbs ?? '')?.[1] ?? ''];
  return Array.from({ length: directive.empty ? 0 : num }, (_, index) => {
    const result = resultOf(topic, (page - 1) * num + index + 1);
    return limit === undefined ? result : { ...result, ageDays: result.ageDays % limit };
  });
}

type Body = (request: SerperRequest, results: SearchResult[]) => Members;

const bodies: Readonly<Record<SearchKind, Body>> = {
  search: searchBody,
  images: (_, results) => ({ images: results.map(image) }),
  news: (_, results) => ({ news: results.map(news) }),
  videos: (_, results) => ({ videos: results.map(video) }),
  places: (_, results) => ({ places: results.map(place) }),
  shopping: (_, results) => ({ shopping: results.map(product) }),
  scholar: (_, results) => ({ organic: results.map(paper) }),
  autocomplete: ({ topic }, results) => ({
    suggestions: results.map((_, index) => ({ value: `${topic} ${index + 1}` })),
  }),
};

function searchBody({ topic, page }: SerperRequest, results: SearchResult[]): Members {
  const [first] = results;
  if (first === undefined) return { organic: [], peopleAlsoAsk: [], relatedSearches: [] };
  const { title, link, snippet, hash } = first;
  const knowledgeGraph = {
    title: topic,
    type: 'Simulated topic',
    website: link,
    description: snippet,
    descriptionSource: 'Compendium',
    descriptionLink: link,
    attributes: { Known: `${hash % 100} years` },
  };
  return {
    ...(hash % 3 === 0 ? { answerBox: { title, snippet, link } } : {}),
    ...(hash % 2 === 0 && page === 1 ? { knowledgeGraph } : {}),
    organic: results.map(organic),
    peopleAlsoAsk: [{ question: `What is ${topic}?`, snippet, title, link }],
    relatedSearches: [{ query: `${topic} meaning` }, { query: `${topic} today` }],
  };
}

function organic(result: SearchResult, index: number): Members {
  const { title, link, snippet, hash } = result;
  const sitelinks = [{ title: 'More', link: `${link}/more` }];
  return {
    title,
    link,
    snippet,
    ...(hash % 2 === 0 ? { date: dateOf(result) } : {}),
    ...(hash % 5 === 0 ? { sitelinks } : {}),
    ...(hash % 7 === 0 ? { rating: 4.5, ratingCount: hash % 400 } : {}),
    position: index + 1,
  };
}

function image({ title, link, domain, hash }: SearchResult, index: number): Members {
  return {
    title,
    imageUrl: `https://${domain}/images/${hash}.jpg`,
    imageWidth: 640 + (hash % 640),
    imageHeight: 480 + (hash % 480),
    thumbnailUrl: `https://${domain}/thumbnails/${hash}.jpg`,
    thumbnailWidth: 160,
    thumbnailHeight: 120,
    source: domain,
    domain,
    link,
    googleUrl: `https://search.example.com/imgres?imgurl=${hash}`,
    position: index + 1,
  };
}

function news(result: SearchResult, index: number): Members {
  const { title, link, snippet, domain, ageDays, hash } = result;
  return {
    title,
    link,
    snippet,
    date: `${ageDays + 1} days ago`,
    source: domain,
    imageUrl: `https://${domain}/images/${hash}.jpg`,
    position: index + 1,
  };
}

function video(result: SearchResult, index: number): Members {
  const { title, link, snippet, domain, hash } = result;
  return {
    title,
    link,
    snippet,
    imageUrl: `https://${domain}/thumbnails/${hash}.jpg`,
    ...(hash % 2 === 0 ? { videoUrl: `https://${domain}/videos/${hash}.mp4` } : {}),
    duration: `${hash % 60}:${String(hash % 59).padStart(2, '0')}`,
    source: domain,
    channel: 'Simulated channel',
    date: dateOf(result),
    position: index + 1,
  };
}

function place({ title, link, domain, hash }: SearchResult, index: number): Members {
  return {
    position: index + 1,
    title,
    address: `${(hash % 200) + 1} Example Street`,
    latitude: (hash % 18_000) / 100 - 90,
    longitude: ((hash >>> 3) % 36_000) / 100 - 180,
    thumbnailUrl: `https://${domain}/thumbnails/${hash}.jpg`,
    rating: 3 + (hash % 20) / 10,
    ratingCount: hash % 5000,
    category: 'Simulated place',
    ...(hash % 2 === 0 ? { phoneNumber: '+1 555-0100', website: link } : {}),
    cid: String(hash),
  };
}

function product({ title, link, domain, hash }: SearchResult, index: number): Members {
  return {
    title,
    source: domain,
    link,
    price: `$${((hash % 50_000) / 100).toFixed(2)}`,
    ...(hash % 3 === 0 ? { delivery: 'Free delivery' } : {}),
    imageUrl: `https://${domain}/images/${hash}.jpg`,
    ...(hash % 2 === 0 ? { rating: 4.2, ratingCount: hash % 900 } : {}),
    offers: String((hash % 9) + 1),
    productId: String(hash),
    position: index + 1,
  };
}

function paper(result: SearchResult): Members {
  const { title, link, snippet, domain, hash } = result;
  return {
    title,
    link,
    publicationInfo: `A Author, B Author - ${domain}`,
    snippet,
    year: 2026 - (hash % 30),
    citedBy: hash % 3000,
    ...(hash % 2 === 0 ? { pdfUrl: `${link}.pdf` } : {}),
    id: `paper-${hash.toString(36)}`,
  };
}

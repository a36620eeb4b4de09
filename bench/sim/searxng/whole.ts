// Renders results in the shape of each category of the metasearch engine. What an engine does not
// know is null or not there, as with real ones.
import type { Members } from '../members.ts';
import type { SearchDirective } from '../search/directive.ts';
import { paperOf, pictureOf, placeOf, videoOf } from '../search/facts.ts';
import { ageDaysOf, type Found, findAll } from '../search/found.ts';
import { topicOf } from '../search/query.ts';
import { nothing } from './failure.ts';
import type { Category, SearxngRequest } from './request.ts';

/** No parameter says how many. */
const pageResults = 10;
const engine = 'simulated almanac';
const other = 'simulated gazette';

export function wholeSearxng(request: SearxngRequest, directive: SearchDirective): Members {
  const { query, category, pageNumber, timeRange } = request;
  const topic = topicOf(query);
  const found = findAll({
    topic,
    skipped: (pageNumber - 1) * pageResults,
    count: pageResults,
    ageDaysMax: ageDaysOf(timeRange),
    directive,
  });
  const unresponsive_engines = directive.isPartial
    ? [
        ['simulated journal', 'timeout'],
        ['simulated archive', 'Suspended: too many requests'],
      ]
    : [];
  const none = { ...nothing(query), unresponsive_engines };
  const [first] = found;
  if (first === undefined) return none;
  const { title, link, snippet, hash } = first;
  return {
    ...none,
    results: found.map((result) => renderings[category](result, known(result, category))),
    answers:
      category === 'general' && hash % 3 === 0
        ? [{ answer: snippet, url: link, engine, template: 'answer/legacy.html' }]
        : [],
    infoboxes:
      category === 'general' && hash % 2 === 0
        ? [{ infobox: topic.text, content: snippet, img_src: null, urls: [{ title, url: link }] }]
        : [],
    suggestions: [`${topic.text} meaning`, `${topic.text} today`],
  };
}

function known(result: Found, category: Category): Members {
  const { title, link, domain, snippet, moment, place, isBad, hash } = result;
  const engines = hash % 2 === 0 ? [engine] : [engine, other];
  return {
    url: isBad ? null : link,
    title,
    content: snippet,
    engine,
    engines,
    positions: engines.map(() => place),
    // A sum over engines: more than one of them lifts it over 1.
    score: engines.length / place,
    category,
    template: 'default.html',
    parsed_url: isBad ? null : ['https', domain, new URL(link).pathname, '', '', ''],
    img_src: '',
    thumbnail: '',
    iframe_src: '',
    audio_src: '',
    publishedDate: hash % 2 === 0 ? moment.replace('.000Z', '') : null,
    pubdate: hash % 2 === 0 ? moment.slice(0, 10) : '',
    length: null,
    views: '',
    author: '',
    metadata: '',
    priority: '',
  };
}

type Rendering = (result: Found, base: Members) => Members;

const renderings: Readonly<Record<Category, Rendering>> = {
  general: (_, base) => base,
  images(result, base) {
    const { imageUrl, width, height, thumbnailUrl } = pictureOf(result);
    return {
      ...base,
      template: 'images.html',
      img_src: result.isBad ? '' : imageUrl,
      thumbnail_src: thumbnailUrl,
      resolution: `${width} x ${height}`,
      img_format: 'jpeg',
      source: result.domain,
    };
  },
  news: (result, base) => ({
    ...base,
    publishedDate: result.moment.replace('.000Z', ''),
    thumbnail: pictureOf(result).thumbnailUrl,
    metadata: result.domain,
  }),
  videos(result, base) {
    const { seconds, length, channel } = videoOf(result);
    return {
      ...base,
      template: 'videos.html',
      thumbnail: pictureOf(result).thumbnailUrl,
      length: result.hash % 2 === 0 ? seconds : length,
      author: channel,
      publishedDate: result.moment.replace('.000Z', ''),
    };
  },
  map(result, base) {
    const { address, latitude, longitude, phone, website } = placeOf(result);
    const [number = '', ...road] = address.split(' ');
    return {
      ...base,
      title: result.isBad ? '' : result.title,
      template: 'map.html',
      // Some engines tell numbers as texts.
      latitude: result.hash % 2 === 0 ? latitude : String(latitude),
      longitude: result.hash % 2 === 0 ? longitude : String(longitude),
      boundingbox: [latitude, latitude, longitude, longitude],
      geojson: null,
      address: {
        name: result.title,
        house_number: number,
        road: road.join(' '),
        locality: 'Exampleton',
        postcode: '00001',
        country: 'Nowhere',
      },
      data: phone === null ? [] : [{ label: 'Phone', value: phone, key: 'phone' }],
      links: website === null ? [] : [{ label: 'Website', url: website, url_label: website }],
    };
  },
  science(result, base) {
    const { authors, venue, year, pdfUrl, id } = paperOf(result);
    return {
      ...base,
      title: result.isBad ? '' : result.title,
      template: 'paper.html',
      authors,
      journal: venue,
      publisher: 'Simulated Press',
      volume: String(year - 1990),
      number: '1',
      pages: '1-9',
      doi: `10.5555/${id}`,
      issn: [],
      isbn: [],
      pdf_url: pdfUrl,
      html_url: null,
      tags: [],
      type: 'article',
      comments: null,
      publishedDate: `${year}-01-01T00:00:00`,
    };
  },
};

/** What the words that stand there may become. */
export function completionsOf(query: string, directive: SearchDirective): (string | null)[] {
  const topic = topicOf(query);
  return findAll({ topic, skipped: 0, count: pageResults, ageDaysMax: null, directive }).map(
    ({ isBad, place }) => (isBad ? null : `${topic.text} ${place}`),
  );
}

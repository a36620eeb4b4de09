// Replies of SearXNG as its servers give them, a category each, and of its suggestions.
import type { Category } from '../../../../../media/providers/search/searxng/encode.ts';

/** What every result has beside its own members. */
const told = {
  engine: 'wikipedia',
  engines: ['wikipedia', 'duckduckgo'],
  positions: [1],
  template: 'default.html',
  parsed_url: ['https', 'alps.example.org', '/', '', '', ''],
  priority: '',
  score: 4.5,
};

function reply(category: string, ...results: Record<string, unknown>[]) {
  return {
    query: 'alps',
    number_of_results: 0,
    results: results.map((each) => ({ ...told, category, ...each })),
    answers: [],
    corrections: [],
    infoboxes: [],
    suggestions: [],
    unresponsive_engines: [] as string[][],
  };
}

export const replies: Readonly<Record<Category, ReturnType<typeof reply>>> = {
  general: {
    ...reply(
      'general',
      {
        url: 'https://alps.example.org/',
        title: 'The Alps',
        content: 'The Alps stretch over eight countries.',
        publishedDate: '2026-01-03T00:00:00',
        thumbnail: '',
        img_src: 'https://alps.example.org/alps.jpg',
      },
      { url: null, title: 'A row of a table', content: '' },
    ),
    suggestions: ['alps map', 'alps weather'],
    corrections: ['alpes'],
    infoboxes: [
      {
        infobox: 'Alps',
        content: 'A mountain range.',
        img_src: 'https://alps.example.org/box.jpg',
        urls: [{ title: 'Official', url: 'https://alps.example.org/', official: true }],
        attributes: [{ label: 'Length', value: '1,200 km', entity: 'P2043' }],
        engine: 'wikidata',
      },
    ],
  } as unknown as ReturnType<typeof reply>,
  images: reply('images', {
    url: 'https://pictures.example.com/m',
    title: 'Matterhorn',
    content: '',
    img_src: 'https://pictures.example.com/m.jpg',
    thumbnail_src: 'https://thumbnails.example.com/m.jpg',
    resolution: '1920 x 1080',
    img_format: 'jpeg',
    source: 'Example Pictures',
  }),
  news: reply('news', {
    url: 'https://news.example.com/snow',
    title: 'Snow in the Alps',
    content: 'It has snowed.',
    publishedDate: null,
    pubdate: '2026-11-27 08:00:00',
    author: 'Example Times',
  }),
  videos: reply('videos', {
    url: 'https://videos.example.com/1',
    title: 'A flight over the Alps',
    content: 'Filmed in June.',
    thumbnail: 'https://videos.example.com/1.jpg',
    iframe_src: 'https://videos.example.com/embed/1',
    length: 754,
    author: 'Flights',
    views: '12K',
  }),
  science: reply('science', {
    url: 'https://papers.example.org/1',
    title: 'Glaciers of the Alps',
    content: 'We measure glaciers.',
    publishedDate: '2019-05-01T00:00:00',
    authors: ['A Author', 'B Author'],
    journal: 'Journal of Ice',
    doi: '10.1000/ice',
    pdf_url: 'https://papers.example.org/1.pdf',
    issn: ['1234-5678'],
  }),
  map: reply('map', {
    url: 'https://map.example.org/node/1',
    title: 'Café Example',
    content: '',
    latitude: '47.3769',
    longitude: '8.5417',
    boundingbox: [47.3, 47.4, 8.5, 8.6],
    geojson: { type: 'Point', coordinates: [8.5417, 47.3769] },
    type: 'Café',
    address: {
      name: 'Café Example',
      house_number: 12,
      road: 'Example Street',
      locality: 'Zürich',
      postcode: '8001',
      country: 'Switzerland',
    },
    data: [
      { label: 'Telefon', key: 'phone', value: '+41 44 555 01 00' },
      { label: 'Öffnungszeiten', key: 'opening_hours', value: 'Mo-Fr 08:00-18:00' },
    ],
    links: [
      { label: 'Wikipedia', url: 'https://encyclopedia.example.org/Cafe', url_label: 'Café (de)' },
      { label: 'Webseite', url: 'https://cafe.example.com', url_label: 'https://cafe.example.com' },
    ],
  }),
};

export const suggestions = {
  listed: ['alps', ['alps map', 'alps weather'], [], [], { 'google:clientdata': {} }],
  flat: ['alps map', 'alps weather'],
};

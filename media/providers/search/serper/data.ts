// What customers see of Serper's replies, by endpoint. Its parameters, credits and addresses of the
// engine's own result pages are left out.
import type { Shape, ShapeMembers } from '../reading.ts';
import type { SerperPath } from './encode.ts';

const sitelinks: Shape = [{ title: true, link: true }];
const rated = { rating: true, ratingCount: true } as const;
const page = { title: true, link: true, snippet: true, date: true, position: true } as const;

const place: Shape = [
  {
    position: true,
    title: true,
    address: true,
    latitude: true,
    longitude: true,
    ...rated,
    priceLevel: true,
    category: true,
    type: true,
    types: true,
    phoneNumber: true,
    website: true,
    openingHours: true,
    thumbnailUrl: true,
    cid: true,
    fid: true,
    placeId: true,
  },
];

export const shapes: Readonly<Record<SerperPath, ShapeMembers>> = {
  search: {
    knowledgeGraph: {
      title: true,
      type: true,
      website: true,
      imageUrl: true,
      description: true,
      descriptionSource: true,
      descriptionLink: true,
      attributes: true,
    },
    answerBox: {
      title: true,
      answer: true,
      snippet: true,
      snippetHighlighted: true,
      link: true,
      date: true,
    },
    organic: [{ ...page, ...rated, sitelinks, attributes: true, imageUrl: true }],
    topStories: [{ title: true, link: true, source: true, date: true, imageUrl: true }],
    peopleAlsoAsk: [{ question: true, snippet: true, title: true, link: true }],
    relatedSearches: [{ query: true }],
  },
  images: {
    images: [
      {
        title: true,
        imageUrl: true,
        imageWidth: true,
        imageHeight: true,
        thumbnailUrl: true,
        thumbnailWidth: true,
        thumbnailHeight: true,
        source: true,
        domain: true,
        link: true,
        position: true,
      },
    ],
  },
  news: { news: [{ ...page, source: true, imageUrl: true }] },
  videos: {
    videos: [
      { ...page, imageUrl: true, videoUrl: true, duration: true, source: true, channel: true },
    ],
  },
  places: { places: place },
  maps: { ll: true, places: place },
  shopping: {
    shopping: [
      {
        title: true,
        source: true,
        link: true,
        price: true,
        delivery: true,
        imageUrl: true,
        ...rated,
        offers: true,
        productId: true,
        position: true,
      },
    ],
  },
  scholar: {
    organic: [
      {
        ...page,
        publicationInfo: { summary: true },
        year: true,
        citedBy: { total: true },
        pdfUrl: true,
        id: true,
      },
    ],
  },
  autocomplete: { suggestions: [{ value: true }] },
};

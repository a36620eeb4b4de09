// Replies of Serper as clients have kept them, an endpoint each.
import type { SerperPath } from '../../../../../media/providers/search/serper/encode.ts';

const searchParameters = { q: 'alps', gl: 'us', hl: 'en', num: 10, engine: 'google' };

const place = {
  position: 1,
  title: 'Café Example',
  address: '12 Example Street, 8001 Zürich',
  latitude: 47.3769,
  longitude: 8.5417,
  rating: 4.6,
  ratingCount: 812,
  phoneNumber: '+41 44 555 01 00',
  website: 'https://cafe.example.com/',
  cid: '1234567890',
};

export const replies: Readonly<Record<SerperPath, Readonly<Record<string, unknown>>>> = {
  search: {
    searchParameters,
    answerBox: {
      title: 'Mont Blanc / Elevation',
      answer: '4,806 m',
      link: 'https://mountains.example.com/mont-blanc',
    },
    knowledgeGraph: {
      title: 'Alps',
      type: 'Mountain range',
      description: 'The Alps are the highest range that is entirely in Europe.',
      attributes: { 'Highest point': 'Mont Blanc', Length: '1,200 km' },
      serpLink: 'https://search.example.com/kg',
    },
    organic: [
      {
        title: 'The Alps',
        link: 'https://alps.example.org/',
        snippet: 'The Alps stretch over eight countries.',
        date: 'Jan 3, 2026',
        sitelinks: [{ title: 'Map', link: 'https://alps.example.org/map', rank: 1 }],
        attributes: { Missing: 'peaks' },
        position: 1,
      },
      {
        title: 'Mont Blanc',
        link: 'https://mountains.example.com/mont-blanc',
        snippet: 'Mont Blanc is the highest mountain of the Alps.',
        position: 2,
      },
    ],
    peopleAlsoAsk: [{ question: 'How old are the Alps?', snippet: '65 million years', link: 'x' }],
    relatedSearches: [{ query: 'alps map' }, { query: 'alps hotels' }],
    credits: 1,
  },
  images: {
    searchParameters,
    images: [
      {
        title: 'Matterhorn',
        imageUrl: 'https://pictures.example.com/m.jpg',
        imageWidth: 1920,
        imageHeight: 1080,
        thumbnailUrl: 'https://thumbnails.example.com/m.jpg',
        thumbnailWidth: 275,
        thumbnailHeight: 183,
        source: 'Example Pictures',
        domain: 'pictures.example.com',
        link: 'https://pictures.example.com/m',
        googleUrl: 'https://search.example.com/imgres?imgurl=m',
        position: 1,
      },
    ],
    credits: 1,
  },
  news: {
    searchParameters,
    news: [
      {
        title: 'Snow in the Alps',
        link: 'https://news.example.com/snow',
        snippet: 'It has snowed.',
        date: '3 hours ago',
        source: 'Example Times',
        imageUrl: 'data:image/jpeg;base64,AAAA',
        position: 1,
      },
    ],
    credits: 1,
  },
  videos: {
    searchParameters,
    videos: [
      {
        title: 'A flight over the Alps',
        link: 'https://videos.example.com/1',
        snippet: 'Filmed in June.',
        imageUrl: 'https://videos.example.com/1.jpg',
        videoUrl: 'https://videos.example.com/1.mp4',
        duration: '12:34',
        source: 'Example Videos',
        channel: 'Flights',
        date: 'Jun 1, 2025',
        position: 1,
      },
    ],
    credits: 1,
  },
  places: {
    searchParameters,
    places: [{ ...place, category: 'Café', thumbnailUrl: 'https://cafe.example.com/t.jpg' }],
    credits: 1,
  },
  maps: {
    searchParameters,
    ll: '@47.3769,8.5417,14z',
    places: [
      {
        ...place,
        type: 'Coffee shop',
        types: ['Coffee shop', 'Bakery'],
        openingHours: { Monday: '8 AM–6 PM', Tuesday: 'Closed' },
        placeId: 'ChIJ0123456789',
        bookingLinks: ['https://book.example.com/'],
      },
    ],
    credits: 3,
  },
  shopping: {
    searchParameters,
    shopping: [
      {
        title: 'Hiking boots',
        source: 'Example Shop',
        link: 'https://search.example.com/shopping/product/1',
        price: '$129.95',
        delivery: 'Free delivery',
        imageUrl: 'https://shop.example.com/boots.jpg',
        rating: 4.4,
        ratingCount: 97,
        offers: '5+',
        productId: '9876543210',
        position: 1,
      },
    ],
    credits: 2,
  },
  scholar: {
    searchParameters,
    organic: [
      {
        title: 'Glaciers of the Alps',
        link: 'https://papers.example.org/1',
        publicationInfo: 'A Author, B Author - Journal of Ice, 2019 - papers.example.org',
        snippet: 'We measure glaciers.',
        year: 2019,
        citedBy: 120,
        pdfUrl: 'https://papers.example.org/1.pdf',
        id: 'abc123',
      },
      {
        title: 'Rocks of the Alps',
        link: 'https://papers.example.org/2',
        publicationInfo: { summary: 'C Author - Rocks - and more, 2001 - Example Press' },
        snippet: 'We measure rocks.',
        citedBy: { total: 7, link: 'https://search.example.com/scholar?cites=2' },
      },
    ],
    credits: 1,
  },
  autocomplete: {
    searchParameters,
    suggestions: [{ value: 'alps map' }, { value: 'alps weather' }],
    credits: 1,
  },
};

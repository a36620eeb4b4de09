// What customers see of SearXNG's replies, by category. Which engines it asked, its parsed
// addresses and outlines of places are left out.
import type { ShapeMembers } from '../reading.ts';
import type { Category } from './encode.ts';

const result = {
  title: true,
  url: true,
  content: true,
  publishedDate: true,
  thumbnail: true,
  author: true,
} as const;

const shapeOf = (members: ShapeMembers): ShapeMembers => ({
  results: [{ ...result, ...members }],
  answers: [{ answer: true, url: true }],
  corrections: true,
  infoboxes: [
    {
      infobox: true,
      content: true,
      img_src: true,
      urls: [{ title: true, url: true }],
      attributes: [{ label: true, value: true }],
    },
  ],
  suggestions: true,
});

export const shapes: Readonly<Record<Category, ShapeMembers>> = {
  general: shapeOf({ score: true, category: true }),
  images: shapeOf({
    img_src: true,
    thumbnail_src: true,
    resolution: true,
    img_format: true,
    source: true,
  }),
  news: shapeOf({ img_src: true, source: true, metadata: true }),
  videos: shapeOf({ img_src: true, iframe_src: true, length: true, views: true }),
  science: shapeOf({
    authors: true,
    journal: true,
    publisher: true,
    volume: true,
    number: true,
    pages: true,
    doi: true,
    issn: true,
    isbn: true,
    pdf_url: true,
    html_url: true,
    tags: true,
    type: true,
    comments: true,
  }),
  map: shapeOf({
    latitude: true,
    longitude: true,
    boundingbox: true,
    address: true,
    type: true,
    data: [{ label: true, value: true, key: true }],
    links: [{ label: true, url: true, url_label: true }],
  }),
};

// What customers see of Tavily's replies. Credits, times, ids of requests and an answer that nobody
// has checked are left out.
import type { ShapeMembers } from '../reading.ts';

const images = [{ url: true, description: true }] as const;

export const shape: ShapeMembers = {
  results: [
    {
      title: true,
      url: true,
      content: true,
      score: true,
      published_date: true,
      favicon: true,
      images,
    },
  ],
  images,
};

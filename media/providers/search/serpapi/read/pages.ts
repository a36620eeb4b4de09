// Pages, pictures, news and videos.
import type { Reading } from '../../../../search/contract.ts';
import { isMembers, type Members } from '../../../../transport/members.ts';
import { entriesOf } from '../../reading.ts';
import { nameOf, pictureOf } from './members.ts';

export function readPages(body: Members): Reading[] {
  return entriesOf(body.organic_results).map((result) => ({
    title: result.title,
    url: result.link,
    snippet: result.snippet,
    source: nameOf(result.source),
    date: result.date,
    thumbnail: pictureOf(result.thumbnail),
  }));
}

export function readImages(body: Members): Reading[] {
  return entriesOf(body.images_results).map((result) => ({
    title: result.title,
    url: result.link,
    imageUrl: result.original,
    width: result.original_width,
    height: result.original_height,
    source: nameOf(result.source),
    thumbnail: pictureOf(result.thumbnail),
  }));
}

export function readNews(body: Members): Reading[] {
  return entriesOf(body.news_results).flatMap(articlesOf).map(articleOf);
}

/** A group has no link of its own: its articles stand in it, the chief one apart. */
function articlesOf(result: Members): Members[] {
  const own = result.link === undefined ? [] : [result];
  const chief = isMembers(result.highlight) ? [result.highlight] : [];
  const inside = [...chief, ...entriesOf(result.stories)];
  return own.length === 0 && inside.length === 0 ? [result] : [...own, ...inside];
}

function articleOf(result: Members): Reading {
  return {
    title: result.title,
    url: result.link,
    snippet: result.snippet,
    source: nameOf(result.source),
    date: result.iso_date ?? result.date,
    thumbnail: pictureOf(result.thumbnail),
  };
}

/** Google's engine and YouTube's; the former says `organic_results` in some versions. */
export function readVideos(body: Members): Reading[] {
  const videos = entriesOf(body.video_results);
  return (videos.length > 0 ? videos : entriesOf(body.organic_results)).map((result) => ({
    title: result.title,
    url: result.link,
    snippet: result.snippet ?? result.description,
    source: nameOf(result.source),
    date: result.date ?? result.published_date,
    duration: result.length ?? result.duration,
    channel: nameOf(result.channel),
    thumbnail: pictureOf(result.thumbnail),
  }));
}

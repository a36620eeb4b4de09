// Engines that find pages, pictures, news and videos.
import type { Members } from '../members.ts';
import { dateMsOf } from '../results.ts';
import { pictureOf, placeOf, videoOf } from '../search/facts.ts';
import type { Found } from '../search/found.ts';
import { type Lists, linkOf } from './list.ts';

type PageEngine = 'google' | 'google_images' | 'google_news' | 'google_videos' | 'youtube';

export const pageLists: Readonly<Record<PageEngine, Lists>> = {
  google: {
    state: 'organic',
    render: (found, { isPartial }) => ({
      ...(isPartial || found.length < 3
        ? {}
        : { local_results: { places: found.map(localPlace) } }),
      organic_results: found.map(organicResult),
    }),
  },
  google_images: {
    state: 'images',
    render: (found) => ({ images_results: found.map(image) }),
  },
  google_news: {
    state: 'news',
    render: (found) => ({ news_results: grouped(found) }),
  },
  google_videos: {
    state: 'video',
    render: (found) => ({ video_results: found.map(googleVideo) }),
  },
  youtube: {
    state: 'video',
    render: (found) => ({ video_results: found.map(tubeVideo) }),
  },
};

function organicResult(result: Found, index: number): Members {
  const { title, domain, snippet, date, hash } = result;
  return {
    position: index + 1,
    title,
    ...linkOf(result),
    redirect_link: `https://search.example.com/url?q=${hash}`,
    displayed_link: `https://${domain} › ${hash % 100}`,
    favicon: `https://serpapi.com/searches/favicons/${hash}.png`,
    ...(hash % 2 === 0 ? { date } : {}),
    snippet,
    snippet_highlighted_words: ['things'],
    ...(hash % 5 === 0
      ? { sitelinks: { inline: [{ title: 'More', link: `https://${domain}/more` }] } }
      : {}),
    source: domain,
  };
}

function localPlace({ title, ...rest }: Found, index: number): Members {
  const { address, rating, ratingCount } = placeOf({ title, ...rest });
  return { position: index + 1, title, address, rating, reviews: ratingCount };
}

function image(result: Found, index: number): Members {
  const { imageUrl, width, height, thumbnailUrl } = pictureOf(result);
  return {
    position: index + 1,
    thumbnail: thumbnailUrl,
    source: result.domain,
    title: result.title,
    ...linkOf(result),
    ...(result.isBad ? {} : { original: imageUrl }),
    original_width: width,
    original_height: height,
    is_product: false,
  };
}

/** `01/03/2026, 08:00 AM, +0000 UTC`. */
function newsDate(result: Found): string {
  if (result.date.endsWith('ago')) return result.date;
  const [year, month, day] = new Date(dateMsOf(result)).toISOString().slice(0, 10).split('-');
  return `${month}/${day}/${year}, 08:00 AM, +0000 UTC`;
}

function story(result: Found): Members {
  const { title, domain, snippet, hash } = result;
  return {
    title,
    source: { name: domain, icon: `https://${domain}/favicon.ico`, authors: ['A Author'] },
    ...linkOf(result),
    thumbnail: pictureOf(result).thumbnailUrl,
    date: newsDate(result),
    ...(hash % 2 === 0 ? { snippet } : {}),
  };
}

/** Every third story opens a group with the one after it, and the group has no link of its own. */
function grouped(found: readonly Found[]): Members[] {
  const entries: Members[] = [];
  for (let index = 0; index < found.length; index += 1) {
    const position = entries.length + 1;
    const [first, second] = found.slice(index, index + 2);
    if (first === undefined) break;
    if (index % 3 !== 2 || second === undefined) {
      entries.push({ position, ...story(first) });
      continue;
    }
    const stories = [first, second].map((one, at) => ({ position: at + 1, ...story(one) }));
    entries.push({ position, title: 'A group of stories', stories });
    index += 1;
  }
  return entries;
}

function googleVideo(result: Found, index: number): Members {
  const { length, channel } = videoOf(result);
  return {
    position: index + 1,
    title: result.title,
    ...linkOf(result),
    displayed_link: `https://${result.domain}`,
    thumbnail: pictureOf(result).thumbnailUrl,
    snippet: result.snippet,
    date: result.date,
    duration: length,
    source: channel,
  };
}

/** What is live has no length. */
function tubeVideo(result: Found, index: number): Members {
  const { length, channel } = videoOf(result);
  return {
    position_on_page: index + 1,
    title: result.title,
    ...linkOf(result),
    serpapi_link: `https://serpapi.com/search.json?engine=youtube_video&v=${result.hash}`,
    channel: { name: channel, link: `https://${result.domain}/channel`, verified: true },
    published_date: `${Math.floor(result.ageDays / 30) + 1} months ago`,
    views: result.hash % 100_000,
    ...(result.hash % 7 === 0 ? { live: true } : { length }),
    description: result.snippet,
    thumbnail: { static: pictureOf(result).thumbnailUrl, rich: pictureOf(result).imageUrl },
  };
}

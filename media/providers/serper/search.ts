// Serper's web search (https://serper.dev): one call for a few results.
import { request } from 'undici';
import * as v from 'valibot';
import { AwakeTimer } from '../../../runtime/awake.ts';
import type { UpstreamTarget } from '../contract.ts';
import type { SearchHit, SearchQuery } from '../search.ts';

const deadlineMs = 8_000;
const hitsMax = 8;
const replyBytesMax = 1_048_576;
const snippetCharactersMax = 1_000;

const replySchema = v.object({
  answerBox: v.optional(
    v.object({
      title: v.optional(v.string()),
      answer: v.optional(v.string()),
      snippet: v.optional(v.string()),
      link: v.optional(v.string()),
    }),
  ),
  organic: v.optional(
    v.array(
      v.object({
        title: v.optional(v.string()),
        link: v.optional(v.string()),
        snippet: v.optional(v.string()),
        date: v.optional(v.string()),
      }),
    ),
    [],
  ),
});

/** One `POST /search`; what is not as expected is no result. Never throws. */
export async function searchSerper(
  target: UpstreamTarget,
  query: SearchQuery,
  signal: AbortSignal,
): Promise<SearchHit[] | null> {
  // Not AbortSignal.any with AbortSignal.timeout: on Node 20 the two may be collected unheard.
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = new AwakeTimer(deadlineMs, abort);
  signal.addEventListener('abort', abort);
  try {
    const reply = await request(`${target.baseUrl}/search`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(target.apiKey === null ? {} : { 'x-api-key': target.apiKey }),
      },
      body: JSON.stringify({ q: query.query, num: hitsMax, ...regionOf(query.locale) }),
      signal: controller.signal,
      // Ours is the one that counts.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    if (reply.statusCode !== 200) {
      await reply.body.dump();
      return null;
    }
    const text = await readBounded(reply.body);
    if (text === null) return null;
    const body = v.safeParse(replySchema, JSON.parse(text));
    return body.success ? hitsOf(body.output) : null;
  } catch {
    return null;
  } finally {
    timer.cancel();
    signal.removeEventListener('abort', abort);
  }
}

async function readBounded(body: AsyncIterable<Buffer>): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > replyBytesMax) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function hitsOf({ answerBox, organic }: v.InferOutput<typeof replySchema>): SearchHit[] {
  const direct = answerBox?.answer ?? answerBox?.snippet ?? '';
  const box = { title: answerBox?.title, link: answerBox?.link, snippet: direct };
  return [...(direct === '' ? [] : [{ ...box, date: undefined }]), ...organic]
    .flatMap(({ title, link, snippet, date }): SearchHit[] => {
      if (link === undefined || !/^https?:\/\//.test(link)) return [];
      const text = (snippet ?? '').slice(0, snippetCharactersMax);
      return [{ title: title ?? link, url: link, snippet: text, date: date ?? null }];
    })
    .slice(0, hitsMax);
}

/** `de-CH`: language de, country ch. */
function regionOf(locale: string | null): { hl?: string; gl?: string } {
  const parts = /^([a-z]{2})(?:[-_]([a-z]{2}))?/i.exec(locale ?? '');
  if (parts === null) return {};
  const [, language, country] = parts;
  return {
    ...(language === undefined ? {} : { hl: language.toLowerCase() }),
    ...(country === undefined ? {} : { gl: country.toLowerCase() }),
  };
}

// Serper's web search (https://serper.dev): one call for a few results.
import { request } from 'undici';
import * as v from 'valibot';
import { AwakeTimer } from '../../../../runtime/awake.ts';
import { cutText } from '../../../../runtime/http/text.ts';
import { readBounded } from '../../../transport/bounded-text.ts';
import { errorIn } from '../../../transport/refusal.ts';
import type { UpstreamTarget } from '../../generation/contract.ts';
import { isUnpaid } from '../../unpaid.ts';
import type { SearchHit, SearchQuery } from '../contract.ts';

const deadlineMs = 8_000;
const hitsMax = 8;
const replyBytesMax = 1_048_576;
const snippetCharactersMax = 1_000;
/** Every part of a result stands in the prompt, at the client's expense. */
const titleCharactersMax = 200;
const dateCharactersMax = 100;
/** A longer address would lead nowhere when it is cut. */
const urlCharactersMax = 2_048;

/** What is not as expected is not there; the others of its reply are. */
const text = v.fallback(v.optional(v.string()), undefined);

const replySchema = v.object({
  answerBox: v.fallback(
    v.optional(v.object({ title: text, answer: text, snippet: text, link: text })),
    undefined,
  ),
  organic: v.optional(
    v.array(v.fallback(v.object({ title: text, link: text, snippet: text, date: text }), {})),
    [],
  ),
});

/** One `POST /search`; what is not as expected is no result. Never throws. */
export async function searchSerper(
  target: UpstreamTarget,
  query: SearchQuery,
  signal: AbortSignal,
): Promise<SearchHit[] | 'unpaid' | null> {
  if (signal.aborted) return null;
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
      const refusal = (await readBounded(reply.body, replyBytesMax)) ?? '';
      return isUnpaid(errorIn(refusal)) ? 'unpaid' : null;
    }
    const text = await readBounded(reply.body, replyBytesMax);
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

function hitsOf({ answerBox, organic }: v.InferOutput<typeof replySchema>): SearchHit[] {
  const direct = answerBox?.answer ?? answerBox?.snippet ?? '';
  const box = { title: answerBox?.title, link: answerBox?.link, snippet: direct };
  return [...(direct === '' ? [] : [{ ...box, date: undefined }]), ...organic]
    .flatMap(({ title, link, snippet, date }): SearchHit[] => {
      if (link === undefined || link.length > urlCharactersMax) return [];
      if (!/^https?:\/\//.test(link)) return [];
      return [
        {
          title: cutText(title ?? link, titleCharactersMax),
          url: link,
          snippet: cutText(snippet ?? '', snippetCharactersMax),
          date: date === undefined ? null : cutText(date, dateCharactersMax),
        },
      ];
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

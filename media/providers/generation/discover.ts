// The models that an OpenAI-compatible server lists: how a local model runner says what it runs.
import { request } from 'undici';
import * as v from 'valibot';
import { readBounded } from '../../transport/bounded-text.ts';

const deadlineMs = 2_000;
const modelsMax = 100;
const replyBytesMax = 1_048_576;
const listSchema = v.object({ data: v.array(v.object({ id: v.string() })) });

export type Discovery =
  | { status: 'listed'; models: string[] }
  /** Why not, in a few words that are safe to log. */
  | { status: 'failed'; reason: string };

/** Model ids of `GET {baseUrl}/models`, at most 100, within 2 s. Never throws. */
export async function discoverModels(baseUrl: string, apiKey: string | null): Promise<Discovery> {
  try {
    const reply = await request(`${baseUrl.replace(/\/+$/, '')}/models`, {
      headers: apiKey === null ? {} : { authorization: `Bearer ${apiKey}` },
      signal: AbortSignal.timeout(deadlineMs),
    });
    if (reply.statusCode !== 200) {
      await reply.body.dump();
      return failed(`GET /models answers ${reply.statusCode}`);
    }
    const text = await readBounded(reply.body, replyBytesMax);
    if (text === null) return failed('the list is too long');
    const list = v.safeParse(listSchema, jsonOf(text));
    if (!list.success) return failed('GET /models answers with something else than a list');
    return { status: 'listed', models: list.output.data.slice(0, modelsMax).map(({ id }) => id) };
  } catch (error) {
    return failed(reasonOf(error));
  }
}

function failed(reason: string): Discovery {
  return { status: 'failed', reason };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** A code alone, such as ECONNREFUSED: messages may hold an address with its credentials. */
function reasonOf(error: unknown): string {
  const { name, code } = error as { name?: unknown; code?: unknown };
  if (name === 'TimeoutError') return `no answer within ${deadlineMs / 1_000} s`;
  return typeof code === 'string' ? code : 'the connection failed';
}

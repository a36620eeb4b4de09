// The models that an OpenAI-compatible server lists: how a local model runner says what it runs.
import { request } from 'undici';
import * as v from 'valibot';
import { readBounded } from '../../transport/bounded-text.ts';

const deadlineMs = 2_000;
const modelsMax = 100;
const replyBytesMax = 1_048_576;
const listSchema = v.object({ data: v.array(v.object({ id: v.string() })) });

/** Model ids of `GET {baseUrl}/models`; null when the server does not answer so. Never throws. */
export async function discoverModels(
  baseUrl: string,
  apiKey: string | null,
): Promise<string[] | null> {
  try {
    const reply = await request(`${baseUrl.replace(/\/+$/, '')}/models`, {
      headers: apiKey === null ? {} : { authorization: `Bearer ${apiKey}` },
      signal: AbortSignal.timeout(deadlineMs),
    });
    if (reply.statusCode !== 200) {
      await reply.body.dump();
      return null;
    }
    const text = await readBounded(reply.body, replyBytesMax);
    if (text === null) return null;
    const list = v.safeParse(listSchema, JSON.parse(text));
    return list.success ? list.output.data.slice(0, modelsMax).map((model) => model.id) : null;
  } catch {
    return null;
  }
}

// Piscina task: token counts of texts that are too large for a shard's own thread.
import '../../runtime/work/background.ts';
import { deserialize } from 'node:v8';
import { countTokens } from '../model/tokens.ts';

/** One count for each text; long ones come as the bytes of `serialize`. */
// biome-ignore lint/style/noDefaultExport: Piscina runs a file's default export
export default async function countTokensTask(
  input: readonly string[] | Uint8Array,
): Promise<number[]> {
  const texts = input instanceof Uint8Array ? (deserialize(input) as string[]) : input;
  const counts: number[] = [];
  for (const text of texts) counts.push(await countTokens(text));
  return counts;
}

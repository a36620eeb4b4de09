// Piscina task: token counts of texts that are too large for a shard's own thread.
import '../../runtime/work/background.ts';
import { countTokens } from '../model/tokens.ts';

/** One count for each text. */
// biome-ignore lint/style/noDefaultExport: Piscina runs a file's default export
export default async function countTokensTask(texts: readonly string[]): Promise<number[]> {
  const counts: number[] = [];
  for (const text of texts) counts.push(await countTokens(text));
  return counts;
}

// Piscina task: the plan of an optimization that is too large for a shard's own thread. The shard
// keeps its messages and applies the plan, so images and unknown parts never travel.
import '../../runtime/work/background.ts';
import { deserialize } from 'node:v8';
import { type OptimizerPlan, planOptimization } from '../model/optimize/plan.ts';
import type { OptimizerOptions } from '../model/optimize/settings.ts';
import type { Message } from '../model/request.ts';

/** The changes for `applyPlan`; `bytes` were made by `threadBytes`. */
// biome-ignore lint/style/noDefaultExport: Piscina runs a file's default export
export default function optimizeTask(bytes: Uint8Array): OptimizerPlan {
  const input = deserialize(bytes) as { messages: Message[]; options: OptimizerOptions };
  return planOptimization(input.messages, input.options);
}

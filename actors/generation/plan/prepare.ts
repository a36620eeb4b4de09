// What a request may need before it is planned: a shorter context, and the model of the
// conversation's last turn.
import { findConversationModel, rememberConversationModel } from '../../../db/conversations.ts';
import { withDeadline } from '../../../db/driver/sql.ts';
import {
  applyPlan,
  needsThread,
  optimizeMessages,
  threadBytes,
} from '../../../media/model/optimize/optimizer.ts';
import type { OptimizerPlan } from '../../../media/model/optimize/plan.ts';
import type { OptimizerOptions } from '../../../media/model/optimize/settings.ts';
import type { GenerationRequest } from '../../../media/model/request.ts';
import { MovedBytes } from '../../../runtime/shard/moved.ts';
import { ownTurn } from '../../../runtime/turns.ts';
import type { ManagedRoute } from '../../catalog/managed.ts';
import type { PlanServices, PoolClient } from './services.ts';

/** The request with a shorter context, where the route or the client wants one. */
export async function optimized(
  request: GenerationRequest,
  client: PoolClient,
  managed: ManagedRoute | undefined,
  services: Pick<PlanServices, 'tasks' | 'limits'>,
): Promise<GenerationRequest> {
  const options = optionsOf(request, managed);
  if (options === null) return request;
  const { messages } = request;
  const result = needsThread(messages, options)
    ? await optimizedElsewhere(messages, options, client, services)
    : optimizeMessages(messages, options).messages;
  if (result === messages) return request;
  return { ...request, messages: result, source: { ...request.source, rewritten: true } };
}

/** Null: the context stays as it is. A managed route decides for its requests. */
function optionsOf(
  { controls }: GenerationRequest,
  managed: ManagedRoute | undefined,
): OptimizerOptions | null {
  const { profile, mode, allowLossyContext } = controls.optimization;
  if (managed?.optimizer === 'never') return null;
  if (mode !== 'off') return { profile, mode, allowLossyContext };
  return managed === undefined ? null : { profile, mode: 'balanced', allowLossyContext };
}

/** A long context is read on the pool; when that fails it stays as it is. */
async function optimizedElsewhere(
  messages: GenerationRequest['messages'],
  options: OptimizerOptions,
  { accountId, requireFunds }: PoolClient,
  services: Pick<PlanServices, 'tasks' | 'limits'>,
): Promise<GenerationRequest['messages']> {
  await requireFunds();
  await ownTurn();
  const payload = new MovedBytes(threadBytes(messages, options));
  const { taskTimeoutMs } = services.limits.work;
  const task = { name: 'optimize', payload, accountId };
  const answer = await services.tasks().ask('run', task, taskTimeoutMs);
  if (!answer.ok || !answer.value.ok) return messages;
  await ownTurn();
  return applyPlan(messages, answer.value.value as OptimizerPlan).messages;
}

/** The conversation that a managed request belongs to. */
export async function conversationOf(
  { controls, model }: GenerationRequest,
  accountId: string,
  services: Pick<PlanServices, 'sql' | 'log'>,
): Promise<{ stickyAlias: string | null; answered: (modelAlias: string) => Promise<void> } | null> {
  const { conversationId } = controls;
  if (conversationId === null) return null;
  const key = { accountId, conversationId, route: model };
  const stickyAlias = await withDeadline(findConversationModel(services.sql, key));
  const answered = async (modelAlias: string) => {
    try {
      await withDeadline(rememberConversationModel(services.sql, key, modelAlias));
    } catch (error) {
      services.log.warn({ err: error }, 'the model of a conversation is not kept');
    }
  };
  return { stickyAlias, answered };
}

// The PDF of a document, drawn by the main thread's pool: fonts are too heavy for a shard.
import type { IssuedDocument } from '../../media/documents/document.ts';
import type { ActorRef } from '../../runtime/actor/contract.ts';
import { Problem } from '../../runtime/problem.ts';
import type { TasksProtocol } from '../tasks/protocol.ts';
import { invoiceLimits } from './limits.ts';

/** @throws Problem overloaded: no thread is free within the bound. */
export async function drawPdf(
  tasks: ActorRef<TasksProtocol>,
  accountId: string,
  document: IssuedDocument,
): Promise<Uint8Array> {
  const task = { name: 'invoice-pdf', payload: document, accountId };
  const answer = await tasks.ask('run', task, invoiceLimits.pdfTimeoutMs);
  if (!answer.ok) throw new Problem('overloaded');
  if (answer.value.ok) return answer.value.value as Uint8Array;
  // Its thread has logged why.
  if (answer.value.refused === 'failed') throw new Error('a document could not be drawn');
  throw new Problem('overloaded');
}

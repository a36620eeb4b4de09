// One question to every node at once, such as for its live view or its metrics, answered together.
// A node that does not answer in time is named, not waited for.
import type { Answer } from '../actor/contract.ts';
import { DeadlineWheel, failed, PendingAsk, type ReplyTo } from '../actor/deadline.ts';
import type { Mesh } from './mesh.ts';

export interface SurveyResult<T> {
  /** By node, in ascending order; this node among them. */
  reports: { node: number; report: T }[];
  /** Nodes that are linked but did not answer. */
  silent: number[];
}

export interface Survey<T> {
  /** Asks every linked node, and this one; never rejects for a remote node. */
  collect(timeoutMs: number): Promise<SurveyResult<T>>;
}

/**
 * Builds a survey under a name of its own. Each node creates the same survey, also those that never
 * collect: `report` is what the node answers, as plain data. A report that throws is silence.
 */
export function createSurvey<T>(options: {
  mesh: Mesh;
  name: string;
  report: () => T | Promise<T>;
}): Survey<T> {
  const { mesh, report } = options;
  const service = `$survey.${options.name}`;
  const wheel = new DeadlineWheel(() => performance.now());
  mesh.serve(service, (_id, _message, _payload, replyTo) => {
    void answer(report, replyTo);
  });
  const ask = async (node: number, timeoutMs: number): Promise<[number, Answer<unknown>]> => {
    const pending = new PendingAsk();
    mesh.askService(node, service, '', 'report', null, pending);
    return [node, await wheel.wait(pending, timeoutMs)];
  };
  return {
    async collect(timeoutMs) {
      const remote = mesh.linkedNodes.map((node) => ask(node, timeoutMs));
      const result: SurveyResult<T> = {
        reports: [{ node: mesh.node, report: await report() }],
        silent: [],
      };
      for (const [node, reply] of await Promise.all(remote)) {
        if (reply.ok) result.reports.push({ node, report: reply.value as T });
        else result.silent.push(node);
      }
      result.reports.sort((a, b) => a.node - b.node);
      return result;
    },
  };
}

async function answer(report: () => unknown, replyTo: ReplyTo | null): Promise<void> {
  try {
    replyTo?.settle({ ok: true, value: await report() });
  } catch {
    replyTo?.settle(failed('actor_crashed'));
  }
}

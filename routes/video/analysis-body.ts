// The public form of an analysis, and the headers of a reply with one.
import type * as v from 'valibot';
import { messageOf } from '../../actors/analysis/problems.ts';
import type { AnalysisResult } from '../../actors/analysis/result.ts';
import type { SourceFacts } from '../../actors/analysis/source-facts.ts';
import type { VideoAnalysis } from '../../db/video-analyses.ts';
import type { SvcUsage } from '../../media/model/dialects/contract.ts';
import type { analysisSchema } from './analysis-schema.ts';
import { timeText } from './job-body.ts';

/** Until then a look can tell nothing more, most likely. */
const lookAgainSeconds = 1;

export function analysisBody(analysis: VideoAnalysis): v.InferOutput<typeof analysisSchema> {
  const { source, result, usage, errorCode, errorMessage, completedMs } = analysis;
  return {
    id: analysis.id,
    object: 'video.analysis',
    request_id: analysis.requestId,
    model: analysis.model,
    status: analysis.status,
    progress: analysis.progress,
    ...(source === null ? {} : { source: JSON.parse(source) as SourceFacts }),
    ...(result === null ? {} : { result: JSON.parse(result) as AnalysisResult }),
    ...(usage === null ? {} : { svc_usage: JSON.parse(usage) as SvcUsage }),
    ...(errorCode === null
      ? {}
      : { error_code: errorCode, error_message: errorMessage ?? messageOf(errorCode) }),
    created_at: timeText(analysis.createdMs),
    updated_at: timeText(analysis.updatedMs),
    ...(completedMs === null ? {} : { completed_at: timeText(completedMs) }),
  };
}

export function analysisHeaders({ completedMs }: VideoAnalysis): Record<string, string> {
  const headers = { 'cache-control': 'no-store' };
  return completedMs === null ? { ...headers, 'retry-after': `${lookAgainSeconds}` } : headers;
}

export const analysisReplyHeaders = {
  'retry-after': 'While it is not over: seconds until a look can tell more.',
};

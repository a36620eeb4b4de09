// GET /v1/video/analyses/{analysis_id}: an analysis of the account as it is now.
import * as v from 'valibot';
import { withDeadline } from '../../db/driver/sql.ts';
import { findVideoAnalysis } from '../../db/video-analyses.ts';
import { Problem } from '../../runtime/problem.ts';
import { defineRoute } from '../define.ts';
import { analysisBody, analysisHeaders, analysisReplyHeaders } from './analysis-body.ts';
import { analysisReplySchema } from './analysis-schema.ts';

export const getVideoAnalysis = defineRoute({
  method: 'GET',
  path: '/v1/video/analyses/{analysis_id}',
  aliases: ['/api/v1/video/analyses/{analysis_id}'],
  operationId: 'getVideoAnalysis',
  summary: 'Read an analysis of a video',
  description:
    'Looking costs nothing. `progress` never falls. An analysis is kept as long as generated ' +
    'videos are, from its end.',
  tag: 'Video',
  documents: ['model'],
  access: { kind: 'key', scope: 'video:analyze' },
  cors: 'public',
  params: v.object({ analysis_id: v.pipe(v.string(), v.maxLength(100)) }),
  replies: {
    200: {
      description: 'The analysis.',
      schema: analysisReplySchema,
      headers: analysisReplyHeaders,
    },
  },
  problems: ['not_found', 'dependency_unavailable'],
  async handle({ params, caller, services }) {
    const { sql } = services;
    const found = await withDeadline(findVideoAnalysis(sql, caller.accountId, params.analysis_id));
    if (found === null) throw new Problem('not_found', { param: 'analysis_id' });
    const json = { ok: true, analysis: analysisBody(found) };
    return { status: 200, headers: analysisHeaders(found), json };
  },
});

// Voice sessions, generated videos and what was said of videos.
import { deleting, jsonOf, type PersonalDomain } from './contract.ts';

export const voiceData: PersonalDomain = {
  file: 'voice_sessions',
  tables: {
    voice_sessions: {
      hold: 'exempt',
      exported: true,
      fate: { kept: 'it says what was charged, and no content' },
    },
    voice_tickets: {
      hold: 'exempt',
      exported: 'it names nobody',
      fate: { kept: 'it names nobody' },
    },
  },
  lists: [
    {
      name: 'voice_sessions',
      from: 'voice_sessions s',
      where: 's.account_id = $1',
      cursor: 's.id',
      item: jsonOf('s', [
        ...['id', 'api_key_id', 'model', 'voice_id', 'state', 'reason', 'source'],
        ...['input_speech_tokens', 'input_text_tokens', 'output_speech_tokens'],
        ...['output_text_tokens', 'search_calls', 'charge_micros', 'created_at', 'ended_at'],
      ]),
    },
  ],
  erasing: [],
};

const videoColumns = [
  ...['id', 'api_key_id', 'request_id', 'conversation_id', 'prompt', 'duration_seconds'],
  ...['aspect_ratio', 'resolution', 'generate_audio', 'seed', 'status', 'progress', 'usage'],
  ...['video_id', 'charge_micros', 'error_code', 'created_at', 'completed_at'],
];

export const videoJobData: PersonalDomain = {
  file: 'video_jobs',
  tables: {
    video_jobs: {
      hold: 'held',
      exported: true,
      fate: { blanked: 'the row says what was charged' },
    },
    video_job_epochs: {
      hold: 'exempt',
      exported: 'it counts who of us worked on a job',
      fate: { kept: 'it names nobody' },
    },
  },
  lists: [
    {
      name: 'video_jobs',
      from: 'video_jobs j',
      where: 'j.account_id = $1',
      cursor: 'j.id',
      item: jsonOf('j', videoColumns),
    },
  ],
  erasing: [
    `WITH page AS (
        SELECT j.id FROM video_jobs j
        WHERE j.account_id = $1 AND j.id > $2 ORDER BY j.id LIMIT $3 FOR UPDATE),
      blanked AS (
        UPDATE video_jobs j SET prompt = '', request_id = '', keyed = false, fingerprint = '',
          conversation_id = NULL, seed = NULL, file = NULL, note = NULL, video_id = NULL
        FROM page p WHERE j.id = p.id AND (j.prompt <> '' OR j.request_id <> ''))
      SELECT id AS cursor, NULL::text AS blob_id FROM page ORDER BY id`,
  ],
};

export const generatedVideoData: PersonalDomain = {
  file: 'generated_videos',
  tables: { generated_videos: { hold: 'held', exported: true, fate: 'erased' } },
  lists: [
    {
      name: 'generated_videos',
      from: 'generated_videos v',
      where: 'v.account_id = $1',
      cursor: 'v.id',
      item: jsonOf('v', [
        ...['id', 'job_id', 'title', 'mime_type', 'duration_seconds', 'aspect_ratio'],
        ...['resolution', 'size_bytes', 'sha256', 'created_at', 'removed_at'],
      ]),
    },
  ],
  erasing: [deleting('generated_videos', 'id', 't.blob_id')],
};

export const analysisData: PersonalDomain = {
  file: 'video_analyses',
  tables: { video_analyses: { hold: 'held', exported: true, fate: 'erased' } },
  lists: [
    {
      name: 'video_analyses',
      from: 'video_analyses n',
      where: 'n.account_id = $1',
      cursor: 'n.id',
      weight: 'coalesce(octet_length(n.result), 0) + coalesce(octet_length(n.source), 0)',
      item: jsonOf(
        'n',
        [
          ...['id', 'api_key_id', 'request_id', 'source_url', 'video_id', 'model'],
          ...['start_seconds', 'end_seconds', 'frames_max', 'status', 'error_code'],
          ...['error_message', 'created_at', 'completed_at'],
        ],
        {
          prompt: 'n.prompt::json',
          source: 'n.source::json',
          result: 'n.result::json',
          usage: 'n.usage::json',
        },
      ),
    },
  ],
  erasing: [deleting('video_analyses', 'id')],
};

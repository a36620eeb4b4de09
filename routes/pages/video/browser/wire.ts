// What the page reads of the API. Members that it does not use are left out, later ones ignored.

export type JobStatus = 'queued' | 'submitting' | 'running' | 'succeeded' | 'failed' | 'cancelled';

export interface Video {
  id: string;
  url: string;
  title: string;
  mimeType: string;
  durationSeconds: number;
  aspectRatio: string;
  resolution: string;
  sizeBytes: number;
}

export interface Job {
  id: string;
  status: JobStatus;
  progress: number;
  phase?: 'finalizing';
  prompt: string;
  duration_seconds: number;
  aspect_ratio: string;
  resolution: string;
  generate_audio: boolean;
  seed?: number;
  cancellation_supported: boolean;
  video?: Video;
  error_code?: string;
  error_message?: string;
  created_at: string;
  completed_at?: string;
}

export const isOver = ({ status }: Pick<Job, 'status'>): boolean =>
  status === 'succeeded' || status === 'failed' || status === 'cancelled';

export type Durations = number[] | { min: number; max: number };

export interface Abilities {
  durations: Durations;
  resolutions: Record<string, { durations?: Durations } | undefined>;
  aspect_ratios: string[];
  audio: 'always' | 'optional' | 'never';
  seed: boolean;
}

export interface VideoRate {
  resolution: string;
  audio?: boolean;
  credits_per_second_of_video: number;
}

export interface ModelEntry {
  alias: string;
  display_name: string;
  available: boolean;
  capabilities: string[];
  credits_per_million_input: number | null;
  credits_per_million_output: number | null;
  credits_per_second_of_video?: number;
  video_rates?: VideoRate[];
  video?: Abilities;
}

export interface Segment {
  start_seconds: number;
  end_seconds: number;
  description: string;
}

/** What a generation used and cost; later members are ignored. */
export interface Usage {
  request_id: string;
  model: string;
  input_tokens: number;
  output_tokens: number;
  charge_microcredits: number;
  source: string;
  simulated: boolean;
}

export interface Source {
  kind: 'url' | 'generated_video';
  duration_seconds: number;
  width: number;
  height: number;
  has_audio: boolean;
  frames: number[];
}

export interface Analysis {
  id: string;
  model: string;
  status: 'queued' | 'running' | 'completed' | 'failed';
  progress: number;
  source?: Source;
  result?: { summary: string; answer: string | null; segments: Segment[] };
  svc_usage?: Usage;
  error_code?: string;
  error_message?: string;
}

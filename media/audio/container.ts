// What a recording is by its first bytes, and which names and media types may say so. A file that
// says something else than it is is refused before any program reads it.

export type Container = 'wav' | 'mp3' | 'ogg' | 'webm' | 'mp4' | 'aac';

export interface ContainerFacts {
  /** As people call it. */
  title: string;
  /** The only demuxer that a program may use for it. */
  demuxer: string;
  extensions: readonly string[];
  mediaTypes: readonly string[];
  /** Codecs of its one stream, as ffprobe calls them. */
  codec: RegExp;
  /** Its samples are those that were recorded, to the last bit. */
  isLossless: boolean;
  /** As it is sent to providers. */
  filename: string;
  mediaType: string;
}

export const containers: Readonly<Record<Container, ContainerFacts>> = {
  wav: {
    title: 'WAV',
    demuxer: 'wav',
    extensions: ['wav', 'wave'],
    mediaTypes: ['audio/wav', 'audio/x-wav', 'audio/wave', 'audio/vnd.wave'],
    codec: /^pcm_/,
    isLossless: true,
    filename: 'audio.wav',
    mediaType: 'audio/wav',
  },
  mp3: {
    title: 'MP3',
    demuxer: 'mp3',
    extensions: ['mp3', 'mpga', 'mpeg'],
    // Clients that go by the name call every `.mpeg` a video.
    mediaTypes: [
      ...['audio/mpeg', 'audio/mp3', 'audio/x-mp3', 'audio/mpeg3', 'audio/x-mpeg'],
      'video/mpeg',
    ],
    codec: /^mp3(float)?$/,
    isLossless: false,
    filename: 'audio.mp3',
    mediaType: 'audio/mpeg',
  },
  ogg: {
    title: 'Ogg',
    demuxer: 'ogg',
    extensions: ['ogg', 'oga', 'opus'],
    // Firefox called every `.ogg` a video for years.
    mediaTypes: ['audio/ogg', 'application/ogg', 'video/ogg', 'audio/opus', 'audio/x-opus'],
    codec: /^opus$/,
    isLossless: false,
    filename: 'audio.ogg',
    mediaType: 'audio/ogg',
  },
  webm: {
    title: 'WebM',
    demuxer: 'matroska',
    extensions: ['webm', 'weba'],
    // Browsers call a recording without a picture so, too.
    mediaTypes: ['audio/webm', 'video/webm'],
    codec: /^opus$/,
    isLossless: false,
    filename: 'audio.webm',
    mediaType: 'audio/webm',
  },
  mp4: {
    title: 'MP4',
    demuxer: 'mov',
    extensions: ['m4a', 'mp4', 'aac'],
    // Tables of types that go by the alphabet give `.mp4` the last one, Android's programs `.m4a`
    // the one before it.
    mediaTypes: [
      ...['audio/mp4', 'video/mp4', 'audio/m4a', 'audio/x-m4a', 'audio/aac'],
      ...['audio/mp4a-latm', 'application/mp4'],
    ],
    codec: /^aac$/,
    isLossless: false,
    filename: 'audio.m4a',
    mediaType: 'audio/mp4',
  },
  aac: {
    title: 'AAC (ADTS)',
    demuxer: 'aac',
    extensions: ['aac'],
    // The last three as Windows, Android and `file` call it.
    mediaTypes: [
      ...['audio/aac', 'audio/aacp', 'audio/x-aac'],
      ...['audio/vnd.dlna.adts', 'audio/aac-adts', 'audio/x-hx-aac-adts'],
    ],
    codec: /^aac$/,
    isLossless: false,
    filename: 'audio.aac',
    mediaType: 'audio/aac',
  },
};

/** How many bytes `containerOf` looks at. */
export const signatureBytes = 16;

/** The container by its signature; null: none of those that are taken. */
export function containerOf(bytes: Uint8Array): Container | null {
  const text = Buffer.from(bytes.subarray(0, signatureBytes)).toString('latin1');
  if (text.startsWith('RIFF') && text.slice(8, 12) === 'WAVE') return 'wav';
  if (text.startsWith('OggS')) return 'ogg';
  if (text.startsWith('\x1a\x45\xdf\xa3')) return 'webm';
  if (text.slice(4, 8) === 'ftyp') return 'mp4';
  if (text.startsWith('ID3')) return 'mp3';
  const [first = 0, second = 0] = bytes;
  // ISO/IEC 13818-7 (ADTS: layer 0) and 11172-3 (layer III), both with eleven or more sync bits.
  if (first !== 0xff) return null;
  if ((second & 0xf6) === 0xf0) return 'aac';
  return (second & 0xe6) === 0xe2 ? 'mp3' : null;
}

/** Why name or media type do not fit what the file is; null: they do. */
export function mislabelled(
  container: Container,
  filename: string,
  mediaType: string,
): 'filename' | 'media type' | null {
  const { extensions, mediaTypes } = containers[container];
  const extension = /\.([A-Za-z0-9]+)$/.exec(filename)?.[1]?.toLowerCase() ?? '';
  if (!extensions.includes(extension)) return 'filename';
  const type = mediaType.split(';')[0]?.trim().toLowerCase() ?? '';
  // Clients that know nothing of a file say this: the name has to do.
  if (type === '' || type === 'application/octet-stream') return null;
  return mediaTypes.includes(type) ? null : 'media type';
}

/** The container that name and media type agree on; null: none of those that are taken. */
export function containerLabelled(filename: string, mediaType: string): Container | null {
  const names = Object.keys(containers) as Container[];
  return names.find((name) => mislabelled(name, filename, mediaType) === null) ?? null;
}

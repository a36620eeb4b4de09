// What follows from a reply that is a file: the replies that conditions and ranges lead to, and the
// headers that carry them. HEAD takes no range (RFC 9110, 14.2), so it has fewer of both.
import type { ReplyDeclaration } from '../route.ts';

type Replies = Record<number, ReplyDeclaration>;
type Headers = Record<string, { description: string }>;

const rangeHeaders: Headers = {
  range: {
    description:
      'One range of bytes is sent alone (206). The whole file is sent for several ranges, for ' +
      'what is none, and for other units.',
  },
  'if-range': {
    description: 'An entity tag or a date: the range is sent if the file still has it.',
  },
};

const conditionHeaders: Headers = {
  'if-match': { description: 'Entity tags, compared strongly: without a match 412.' },
  'if-unmodified-since': { description: 'Read without `if-match`: 412 if the file is newer.' },
  'if-none-match': { description: 'Entity tags, compared weakly: with a match 304.' },
  'if-modified-since': { description: 'Read without `if-none-match`: 304 if nothing is newer.' },
};

const validators = {
  etag: 'The SHA-256 of the whole file in quotes.',
  'last-modified': 'When the file was made.',
  'cache-control': '`private, no-cache`: kept by its reader alone, and asked for before each use.',
};

const told = {
  ...validators,
  'accept-ranges': '`bytes`.',
  'content-length': 'How many bytes follow.',
  'content-disposition': 'The name of the file.',
};

export function servesFile(replies: Replies): boolean {
  return replies[200]?.isFile === true;
}

/** All replies of a GET that serves a file: what it declares, and what follows from it. */
export function fileRepliesOf(declared: Replies): Replies {
  const { description = '', mediaType = '', headers } = declared[200] ?? {};
  return {
    ...declared,
    200: { description, mediaType, headers: { ...told, ...headers } },
    206: {
      description: 'The range that was asked for.',
      mediaType,
      headers: { ...told, 'content-range': 'Its place: `bytes FIRST-LAST/LENGTH`.', ...headers },
    },
    304: { description: 'The file is the one that the client has.', headers: validators },
    412: { description: 'The file is not the one that was asked for.', headers: validators },
    416: {
      description: 'Nothing of the range is in the file.',
      headers: { ...validators, 'content-range': 'The length of the whole: `bytes */LENGTH`.' },
    },
  };
}

/** The same of its HEAD: without bodies, and without what only a range leads to. */
export function headRepliesOf(declared: Replies): Replies {
  const all = Object.entries(fileRepliesOf(declared));
  const kept = all.filter(([status]) => status !== '206' && status !== '416');
  return Object.fromEntries(
    kept.map(([status, { description, headers = {} }]) => [status, { description, headers }]),
  );
}

/** Request headers of a GET or HEAD. */
export function fileHeadersOf(method: string): Headers {
  return method === 'HEAD' ? conditionHeaders : { ...rangeHeaders, ...conditionHeaders };
}

// multipart/form-data (RFC 7578) by uWS's parser, which stops silently at whatever it does not
// understand and lends its parts out of the body: so delimiters are counted and bytes are copied.
import { getParts, type MultipartField } from 'uWebSockets.js';
import type { GenericSchema } from 'valibot';
import { Problem } from '../problem.ts';
import { addField, createFieldReader } from './fields.ts';
import { textOf } from './json.ts';
import type { MultipartBody, UploadedFile } from './route.ts';
import { fieldProblem, validate } from './validate.ts';

export interface MultipartValue {
  body: unknown;
  files: Record<string, UploadedFile>;
}
export type MultipartReader = (bytes: Buffer, contentType: string) => MultipartValue;

const partsMax = 100;
const filenameCharsMax = 255;
const boundaryPattern = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i;
/** RFC 2046, 5.1.1, without the space. */
const boundaryCharacters = /^[A-Za-z0-9'()+_,./:=?-]+$/;

/** Reads bodies of one route. Every fault is a 400, a file over its bound a 413. */
export function createMultipartReader(declaration: MultipartBody<GenericSchema>): MultipartReader {
  const { schema, files: declared } = declaration;
  const readFields = createFieldReader(schema);
  return (bytes, contentType) => {
    const texts: Record<string, string | string[]> = Object.create(null);
    const files: Record<string, UploadedFile> = Object.create(null);
    for (const part of partsOf(bytes, contentType)) {
      const bounds = Object.hasOwn(declared, part.name) ? declared[part.name] : undefined;
      if (bounds !== undefined) {
        if (part.name in files) throw fieldProblem(part.name, 'Only one file is allowed here.');
        files[part.name] = fileOf(part, bounds.bytesMax);
      } else if (part.filename !== undefined) {
        throw fieldProblem(part.name, `Unknown file part '${part.name}'.`);
      } else addField(texts, part.name, fieldText(part));
    }
    for (const [name, { required }] of Object.entries(declared)) {
      if (required && !(name in files)) {
        throw fieldProblem(name, `Missing required file '${name}'.`);
      }
    }
    return { body: validate(schema, readFields(texts)), files };
  };
}

function partsOf(bytes: Buffer, contentType: string): MultipartField[] {
  const match = boundaryPattern.exec(contentType);
  const boundary = match?.[1] ?? match?.[2] ?? '';
  if (!boundaryCharacters.test(boundary)) throw invalid('The multipart boundary is missing.');
  const delimiters = countDelimiters(bytes, `--${boundary}`);
  if (delimiters === null) throw invalid('The multipart body has no end.');
  if (delimiters > partsMax) throw invalid(`The body has more than ${partsMax} parts.`);
  const parts = getParts(bytes, `multipart/form-data; boundary=${boundary}`) ?? [];
  if (parts.length !== delimiters) throw invalid('A part of the multipart body is malformed.');
  return parts;
}

/** Delimiter lines before the closing one; null when that is missing. */
function countDelimiters(bytes: Buffer, delimiter: string): number | null {
  let count = 0;
  let index = bytes.indexOf(delimiter);
  while (index !== -1 && count <= partsMax) {
    const after = index + delimiter.length;
    if (index === 0 || bytes[index - 1] === 10) {
      if (bytes[after] === 45 && bytes[after + 1] === 45) return count;
      count += 1;
    }
    index = bytes.indexOf(delimiter, after);
  }
  return index === -1 ? null : count;
}

function fileOf(part: MultipartField, bytesMax: number): UploadedFile {
  if (part.data.byteLength > bytesMax) {
    throw new Problem('request_too_large', {
      message: `The file '${part.name}' is larger than ${bytesMax} bytes.`,
      param: part.name,
      details: { path: part.name, bytes_max: bytesMax },
    });
  }
  return {
    filename: (part.filename ?? '').slice(0, filenameCharsMax),
    mediaType: part.type ?? 'application/octet-stream',
    bytes: new Uint8Array(part.data).slice(),
  };
}

function fieldText(part: MultipartField): string {
  if (typeof part.name !== 'string' || part.name === '') {
    throw invalid('A part of the multipart body has no name.');
  }
  const text = textOf(Buffer.from(part.data));
  if (text === null) throw fieldProblem(part.name, 'The field is not valid UTF-8.');
  return text;
}

function invalid(message: string): Problem {
  return new Problem('invalid_request', { message });
}

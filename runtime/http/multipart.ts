// multipart/form-data (RFC 7578) as typed fields and bounded files. The body is lent for one call,
// so files are copied out of it.
import type { GenericSchema } from 'valibot';
import { Problem } from '../problem.ts';
import { addField, createFieldReader } from './fields.ts';
import { textOf } from './json.ts';
import { type Part, splitParts } from './multipart/parts.ts';
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

function partsOf(bytes: Buffer, contentType: string): Part[] {
  const match = boundaryPattern.exec(contentType);
  const boundary = match?.[1] ?? match?.[2] ?? '';
  if (!boundaryCharacters.test(boundary)) throw invalid('The multipart boundary is missing.');
  const splitting = splitParts(bytes, boundary, partsMax);
  switch (splitting.status) {
    case 'whole':
      return splitting.parts;
    case 'endless':
      throw invalid('The multipart body has no end.');
    case 'too_many':
      throw invalid(`The body has more than ${partsMax} parts.`);
    case 'malformed':
      throw invalid('A part of the multipart body is malformed.');
  }
}

function fileOf({ name, filename, mediaType, bytes }: Part, bytesMax: number): UploadedFile {
  if (bytes.length > bytesMax) {
    throw new Problem('request_too_large', {
      message: `The file '${name}' is larger than ${bytesMax} bytes.`,
      param: name,
      details: { path: name, bytes_max: bytesMax },
    });
  }
  return {
    // Its end says what the file is.
    filename: (filename ?? '').slice(-filenameCharsMax),
    mediaType: mediaType ?? 'application/octet-stream',
    bytes: new Uint8Array(bytes),
  };
}

function fieldText({ name, bytes }: Part): string {
  const text = textOf(bytes);
  if (text === null) throw fieldProblem(name, 'The field is not valid UTF-8.');
  return text;
}

function invalid(message: string): Problem {
  return new Problem('invalid_request', { message });
}

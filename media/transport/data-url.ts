// Data URLs (RFC 2397), for families whose formats have type and contents apart.
import { isTextFile } from '../model/file-url.ts';

export interface DataUrl {
  /** In lower case, without parameters; empty: it says none. */
  mediaType: string;
  base64: string;
}

/** OpenAI's providers take it, others do not. */
const wrongNames: ReadonlyMap<string, string> = new Map([['image/jpg', 'image/jpeg']]);

/** What is not base64 there is made so. Null: another kind of URL. */
export function readDataUrl(url: string): DataUrl | null {
  if (!/^data:/i.test(url)) return null;
  const comma = url.indexOf(',');
  if (comma < 0) return null;
  const [type = '', ...parameters] = url.slice('data:'.length, comma).split(';');
  const named = type.trim().toLowerCase();
  const mediaType = wrongNames.get(named) ?? named;
  const payload = url.slice(comma + 1);
  if (parameters.some((parameter) => /^\s*base64\s*$/i.test(parameter))) {
    return { mediaType, base64: payload };
  }
  return { mediaType, base64: Buffer.from(decoded(payload)).toString('base64') };
}

/** What a text file says; null: another kind of file, or one that stands elsewhere. */
export function readTextFile(url: string): string | null {
  const data = isTextFile(url) ? readDataUrl(url) : null;
  return data === null ? null : Buffer.from(data.base64, 'base64').toString();
}

function decoded(payload: string): string {
  try {
    return decodeURIComponent(payload);
  } catch {
    return payload;
  }
}

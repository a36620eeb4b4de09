// What a video file is by its first bytes: this decides the only demuxer that a program may use.
// A playlist, a page or a picture is refused before any program reads it.

export type VideoMime = 'video/mp4' | 'video/quicktime';

/** `mime` null: a kind of file that is looked at, and never served. */
export interface VideoContainer {
  demuxer: 'mov' | 'matroska';
  mime: VideoMime | null;
}

/** How many bytes `videoContainerOf` looks at. */
export const signatureBytes = 512;

const brandBytes = 4;
const firstBrandAt = 8;
const secondBrandAt = 16;
/** Brands of ISO/IEC 14496-12 and of what derives from it for films; pictures have others. */
const filmBrand = new RegExp(
  '^(?:iso[m2-9abc]|mp4[12]|mp71|avc1|hvc1|hev1|av01|vp09|dash|msdh|cmf[c2f]|M4V[ HP]|f4v |' +
    '3g[2egprs][0-9a-z]|MSNV|XAVC)$',
);
const quickTimeBrand = 'qt  ';
const matroskaMagic = '\x1a\x45\xdf\xa3';

/** Null: it is none of the kinds that are taken. */
export function videoContainerOf(bytes: Uint8Array): VideoContainer | null {
  const text = Buffer.from(bytes.subarray(0, signatureBytes)).toString('latin1');
  if (text.startsWith(matroskaMagic)) {
    return /webm|matroska/.test(text.slice(0, 64)) ? { demuxer: 'matroska', mime: null } : null;
  }
  if (text.slice(4, 8) !== 'ftyp') return null;
  const length = Buffer.from(bytes.subarray(0, 4)).readUInt32BE(0);
  const brands = [text.slice(firstBrandAt, firstBrandAt + brandBytes)];
  for (let at = secondBrandAt; at + brandBytes <= Math.min(length, text.length); at += brandBytes) {
    brands.push(text.slice(at, at + brandBytes));
  }
  if (brands[0] === quickTimeBrand) return { demuxer: 'mov', mime: 'video/quicktime' };
  if (brands.some((brand) => filmBrand.test(brand))) return { demuxer: 'mov', mime: 'video/mp4' };
  return brands.includes(quickTimeBrand) ? { demuxer: 'mov', mime: 'video/quicktime' } : null;
}

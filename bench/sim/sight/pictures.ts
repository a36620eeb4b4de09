// The pictures of a request, each with the text in front of it, in whichever format it came.
import { isMembers, type Members, membersOf } from '../members.ts';

export interface ShownPicture {
  /** What is said in front of it. */
  before: string;
  jpeg: Buffer;
}

/** `contents`: those of the user's turns, in order. */
export function picturesOf(contents: readonly unknown[]): ShownPicture[] {
  const pictures: ShownPicture[] = [];
  let before = '';
  for (const part of contents.flatMap(membersOf)) {
    const base64 = pictureOf(part);
    if (base64 !== null) pictures.push({ before, jpeg: Buffer.from(base64, 'base64') });
    else if (typeof part.text === 'string') before = part.text;
  }
  return pictures;
}

/** Base64, where the part is a JPEG that came along. */
function pictureOf(part: Members): string | null {
  const { image_url: image, source, inlineData } = part;
  const url = isMembers(image) ? image.url : image;
  if (typeof url === 'string') return /^data:image\/jpeg;base64,(.+)$/s.exec(url)?.[1] ?? null;
  const data = isMembers(source) ? source.data : isMembers(inlineData) ? inlineData.data : null;
  return typeof data === 'string' ? data : null;
}

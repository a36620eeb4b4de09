// What a file is called for providers that tell its kind by the end of its name, whatever its data
// URL says: documents of Messages have a title or nothing, and are refused without an ending.

const endings: ReadonlyMap<string, string> = new Map([
  ['application/json', '.json'],
  ['application/pdf', '.pdf'],
  ['application/vnd.openxmlformats-officedocument.presentationml.presentation', '.pptx'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', '.xlsx'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', '.docx'],
  ['application/xml', '.xml'],
  ['text/csv', '.csv'],
  ['text/html', '.html'],
  ['text/markdown', '.md'],
]);
/** No version or date: they begin with a digit. */
const anyEnding = /\.[a-z][a-z0-9]{0,9}$/i;

/** `url`: a data URL. A kind that is not known here gets no ending, and its provider judges. */
export function fileName(name: string | null, url: string): string {
  // The head alone: a document of 9 MB is not searched for its comma.
  const mediaType = /^data:([^;,]*)/i.exec(url.slice(0, 256))?.[1]?.trim().toLowerCase() ?? '';
  const stem = name === null || name.trim() === '' ? 'file' : name;
  const isText = mediaType.startsWith('text/');
  const ending = endings.get(mediaType) ?? (isText ? '.txt' : '');
  // Sources and notes are all plain text, and their own ending says more.
  if (isText ? anyEnding.test(stem) : stem.toLowerCase().endsWith(ending)) return stem;
  return `${stem}${ending}`;
}

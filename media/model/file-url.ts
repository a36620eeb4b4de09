// The contents of a file as clients give them: a data URL, or bare base64, which the encoders of
// other formats would take for an address, or for nothing.
const plainTexts = /\.(txt|md|csv|json)$/i;
const textFile = /^data:\s*(?:text\/|application\/(?:json|xml|x-ndjson|yaml|javascript)\s*[;,])/i;
const schemePattern = /^\s*[a-z][a-z0-9+.-]*:/i;

/** What has a scheme stays as it is; the type of base64 is what the file's name says. */
export function fileUrl(data: string, name: string | null): string {
  if (data.trim() === '' || schemePattern.test(data.slice(0, 64))) return data;
  const type = name !== null && plainTexts.test(name) ? 'text/plain' : 'application/pdf';
  return `data:${type};base64,${data}`;
}

/** Whether it is words: models read them whatever else they can see. */
export function isTextFile(url: string): boolean {
  return textFile.test(url.slice(0, 256));
}

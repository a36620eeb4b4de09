// Pages that a tool has fetched: scripts, styles, drawings and comments are for a browser. Scripts
// that carry data (JSON) stay. Searched by indexOf, so hostile pages take linear time.

const ELEMENTS = ['script', 'style', 'svg', 'noscript'] as const;

/** The page without them; the same text when it is no page. */
export function withoutMarkup(text: string): string {
  const start = text.slice(0, 256).trimStart();
  if (!start.startsWith('<') || !/^<(!doctype|html|head|body|!--|div|main|article)/i.test(start)) {
    return text;
  }
  // A page inside of Markdown: what stands between fences is code that somebody reads.
  if (/^ {0,3}(?:`{3}|~{3})/m.test(text)) return text;
  let page = withoutComments(text);
  for (const name of ELEMENTS) page = withoutElement(page, name);
  return page;
}

function withoutComments(text: string): string {
  return withoutRanges(text, '<!--', (at) => {
    const end = text.indexOf('-->', at + 4);
    return end === -1 ? null : end + 3;
  });
}

function withoutElement(text: string, name: string): string {
  const lower = text.toLowerCase();
  // A few letters grow in lower case: then positions would not fit.
  if (lower.length !== text.length) return text;
  return withoutRanges(
    text,
    `<${name}`,
    (at) => {
      if (!/[\s/>]/.test(lower[at + name.length + 1] ?? '')) return null;
      const open = lower.indexOf('>', at);
      const close = lower.indexOf(`</${name}>`, at);
      if (open === -1 || close === -1) return null;
      return lower.slice(at, open).includes('json') ? null : close + name.length + 3;
    },
    lower,
  );
}

/** Cuts what begins with `opening` and ends where `endOf` says; null: that one stays. */
function withoutRanges(
  text: string,
  opening: string,
  endOf: (at: number) => number | null,
  searched = text,
): string {
  let kept = '';
  let from = 0;
  let misses = 0;
  for (let at = searched.indexOf(opening); at !== -1; ) {
    const end = endOf(at);
    // Openings without an end would search the whole rest again and again.
    if (end === null && ++misses > 64) break;
    if (end !== null) {
      kept += text.slice(from, at);
      from = end;
    }
    at = searched.indexOf(opening, end ?? at + opening.length);
  }
  return from === 0 ? text : kept + text.slice(from);
}

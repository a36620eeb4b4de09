// The page around the API reference: title, links between the documents, redoc's element.

export interface Page {
  path: string;
  operationId: string;
  title: string;
  documentPath: string;
}

const theme = {
  colors: { primary: { main: '#1f5eff' } },
  typography: {
    fontFamily: 'system-ui, sans-serif',
    headings: { fontFamily: 'system-ui, sans-serif' },
    code: { fontFamily: 'ui-monospace, monospace' },
  },
};

/** The whole page; it asks for nothing but its document and `scriptPath`. */
export function pageHtml(page: Page, pages: readonly Page[], scriptPath: string): string {
  const links = pages.map(({ path, title }) => {
    const current = path === page.path ? ' aria-current="page"' : '';
    return `<a href="${path}"${current}>${title}</a>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>${page.title} · tollgate</title>
<style>
body { margin: 0; font-family: system-ui, sans-serif; }
nav { display: flex; gap: 1.5rem; align-items: center; height: 48px; padding: 0 1.5rem;
  border-bottom: 1px solid #e3e6ee; background: #fff; position: sticky; top: 0; z-index: 2; }
nav strong { margin-right: auto; }
nav a { color: #4a5168; text-decoration: none; white-space: nowrap; }
nav a[aria-current] { color: #1f5eff; font-weight: 600; }
noscript { display: block; padding: 1.5rem; }
@media (max-width: 480px) { nav { gap: 0.75rem; padding: 0 1rem; font-size: 0.875rem; } }
a[href^="https://redocly.com"] { display: none !important; }
</style>
</head>
<body>
<nav><strong>tollgate</strong>${links.join('')}<a href="${page.documentPath}">OpenAPI</a></nav>
<noscript>The reference needs JavaScript. The document itself is at
<a href="${page.documentPath}">${page.documentPath}</a>.</noscript>
<redoc spec-url="${page.documentPath}" hide-download-button scroll-y-offset="nav"
 theme='${JSON.stringify(theme)}'></redoc>
<script src="${scriptPath}"></script>
</body>
</html>
`;
}

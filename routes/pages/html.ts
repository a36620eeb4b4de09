// The page around the API reference: title, links between the documents, redoc's element.

export interface Page {
  path: string;
  operationId: string;
  title: string;
  documentPath: string;
}

const typography = {
  fontFamily: 'system-ui, sans-serif',
  headings: { fontFamily: 'system-ui, sans-serif' },
  code: { fontFamily: 'ui-monospace, monospace' },
};
/** On tabs of samples, near black in both schemes, where nobody reads redoc's own red. */
const tabs = { success: { tabTextColor: '#5fd38d' }, error: { tabTextColor: '#ff8f8a' } };
const theme = { colors: { primary: { main: '#1f5eff' }, responses: tabs }, typography };
const darkTheme = {
  colors: {
    primary: { main: '#8fb0ff' },
    success: { main: '#5fd38d' },
    error: { main: '#ff8f8a' },
    warning: { main: '#ffc46b' },
    text: { primary: '#e4e7f0', secondary: '#a9b0c3' },
    border: { dark: 'rgba(255, 255, 255, 0.14)', light: '#2b3142' },
    gray: { 50: '#1a1e2a', 100: '#222736' },
    responses: tabs,
  },
  schema: { nestedBackground: '#1a1e2a', linesColor: '#4a5372' },
  typography: {
    ...typography,
    code: { ...typography.code, color: '#ffb3a8', backgroundColor: 'rgba(255, 255, 255, 0.08)' },
  },
  sidebar: { backgroundColor: '#161a24', textColor: '#d5d9e6', activeTextColor: '#8fb0ff' },
  rightPanel: { backgroundColor: '#0c0f16' },
  fab: { backgroundColor: '#2b3142', color: '#8fb0ff' },
};

/** Stands before redoc in its script: colours are an attribute, out of reach of style sheets. */
export const darkScript = `if (matchMedia('(prefers-color-scheme: dark)').matches) {
  const drawn = document.querySelector('redoc[data-dark-theme]');
  drawn?.setAttribute('theme', drawn.dataset.darkTheme);
}
`;

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
<meta name="color-scheme" content="light dark">
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
.react-tabs__tab--selected { background: #fff !important; color: #11141c !important; }
@media (prefers-color-scheme: dark) {
  body { background: #11141c; color: #e4e7f0; }
  nav { background: #161a24; border-color: #2b3142; }
  nav a { color: #a9b0c3; }
  nav a[aria-current] { color: #8fb0ff; }
  .api-content h5, .api-content h5 span { color: #a9b0c3 !important; }
  .api-content h5, .api-content td { border-color: #2b3142 !important; }
  .api-content svg polygon { fill: #a9b0c3; }
}
@media (min-width: 480px) { redoc td:first-child code { white-space: nowrap; } }
</style>
</head>
<body>
<nav><strong>tollgate</strong>${links.join('')}<a href="${page.documentPath}">OpenAPI</a></nav>
<noscript>The reference needs JavaScript. The document itself is at
<a href="${page.documentPath}">${page.documentPath}</a>.</noscript>
<redoc spec-url="${page.documentPath}" hide-download-button scroll-y-offset="nav"
 theme='${JSON.stringify(theme)}'
 data-dark-theme='${JSON.stringify(darkTheme)}'></redoc>
<script src="${scriptPath}"></script>
</body>
</html>
`;
}

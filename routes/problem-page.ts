// How a problem looks to a person in a browser: a page with the status, the words, and the way on.
import type { ProblemPage } from '../runtime/http/kernel.ts';
import type { Problem } from '../runtime/problem.ts';
import { renderProblem } from './problems.ts';

const pageHeaders = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; " +
    "frame-ancestors 'none'",
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text as text of HTML, also inside an attribute with quotes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

const titles: Readonly<Record<number, string>> = {
  400: 'This request does not work',
  401: 'Sign in first',
  403: 'This is not allowed',
  404: 'There is nothing here',
  429: 'Too many attempts',
};

/** The page of a problem, with the status and headers that its JSON would have. */
export function renderProblemPage(problem: Problem, requestId: string): ProblemPage {
  const { status, headers } = renderProblem('/', problem, requestId);
  const title = titles[status] ?? 'Something went wrong here';
  return { status, headers: { ...headers, ...pageHeaders }, html: page(title, problem, requestId) };
}

function page(title: string, { message }: Problem, requestId: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/identity/base.css">
<title>${title} · tollgate</title>
</head>
<body>
<header><strong>tollgate</strong></header>
<main>
<div class="narrow">
<section class="card">
<h1>${title}</h1>
<p><bdi>${escapeHtml(message)}</bdi></p>
<p class="hint">Request ${escapeHtml(requestId)}</p>
<div class="actions"><a class="small" href="/account">Your account</a></div>
</section>
</div>
</main>
</body>
</html>
`;
}

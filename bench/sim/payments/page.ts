// The simulated checkout as a page: no script, usable by keyboard, narrow and wide, light and dark.

export interface ShownOrder {
  description: string;
  amountCents: number;
  taxCents: number;
  currency: string;
  email: string | null;
  cancelUrl: string | null;
}

const style = `
:root {
  color-scheme: light dark;
  --line: #8886; --accent: #2348c5; --on-accent: #fff; --bad: #b3261e;
  --page: #fff; --text: #16181d;
}
@media (prefers-color-scheme: dark) {
  :root {
    --accent: #a8c0ff; --on-accent: #0b1a4a; --bad: #ffb4ab;
    --page: #14161a; --text: #f1f2f4;
  }
}
* { box-sizing: border-box }
body {
  font: 1rem/1.5 system-ui, sans-serif; margin: 0; padding: 1.5rem 1rem;
  background: var(--page); color: var(--text);
}
main { max-width: 26rem; margin: 0 auto }
.note {
  border: 1px dashed var(--line); border-radius: .5rem;
  padding: .5rem .75rem; font-size: .875rem;
}
h1 { font-size: 1rem; font-weight: 400; margin: 1.5rem 0 0; overflow-wrap: anywhere }
.amount { font-size: 2.25rem; font-weight: 600; margin: 0; font-variant-numeric: tabular-nums }
.detail { margin: 0; overflow-wrap: anywhere }
.message {
  border-inline-start: .25rem solid var(--bad);
  padding-inline-start: .75rem; color: var(--bad);
}
form { display: grid; gap: .75rem; margin: 1.5rem 0 }
button {
  font: inherit; padding: .75rem 1rem; min-height: 3rem; border-radius: .5rem; cursor: pointer;
  border: 1px solid var(--line); background: transparent; color: inherit;
}
button.first {
  background: var(--accent); color: var(--on-accent);
  border-color: transparent; font-weight: 600;
}
a { color: var(--accent); display: inline-block; padding: .5rem 0 }
:focus-visible { outline: .2rem solid var(--accent); outline-offset: .2rem }
`;

/** Null: there is nothing to pay, and the message says why. */
export function pageHtml(order: ShownOrder | null, message: string | null): string {
  const told = message === null ? '' : `<p class="message" role="alert">${escaped(message)}</p>`;
  const title = order === null ? 'Simulated checkout' : `Pay ${amountOf(order, order.amountCents)}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
<p class="note">This is a simulator. No money moves.</p>
${order === null ? '' : `<h1>${escaped(order.description)}</h1>`}
${order === null ? '' : summary(order)}
${told}
${order === null ? '' : buttons(order)}
</main>
</body>
</html>
`;
}

function summary(order: ShownOrder): string {
  const { amountCents, taxCents, email } = order;
  const tax =
    taxCents === 0 ? '' : `<p class="detail">${amountOf(order, taxCents)} of it is tax.</p>`;
  const person = email === null ? '' : `<p class="detail">${escaped(email)}</p>`;
  return `<p class="amount">${amountOf(order, amountCents)}</p>${tax}${person}`;
}

function buttons({ cancelUrl }: ShownOrder): string {
  const back = cancelUrl === null ? '' : `<a href="${escaped(cancelUrl)}">Leave without paying</a>`;
  return `<form method="post">
<button class="first" name="sim" value="pay">Pay</button>
<button name="sim" value="delay">Pay by transfer, which takes a moment</button>
<button name="sim" value="decline">Pay with a card that is declined</button>
</form>
${back}`;
}

function amountOf({ currency }: ShownOrder, cents: number): string {
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency: currency.toUpperCase(),
  });
  const { maximumFractionDigits: digits = 2 } = format.resolvedOptions();
  return escaped(format.format(cents / 10 ** digits));
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

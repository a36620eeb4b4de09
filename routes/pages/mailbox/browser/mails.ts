// One mail as the page shows it: whom it is for, its code, and its text. Its HTML is shown as
// source: nothing of it is run or loaded.
import { make } from './dom.ts';

export interface Message {
  id: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  at: string;
}

const times = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });

/** The code of a mail: six digits on a line of their own. */
export const codeIn = (text: string): string | null => /^ *(\d{6})$/m.exec(text)?.[1] ?? null;

function timeOf(at: string): HTMLTimeElement {
  const time = make('time', '', times.format(new Date(at)));
  time.dateTime = at;
  return time;
}

/** `copied` says what came of it, for people who do not see the button. */
function codeRow(code: string, titleId: string, copied: (text: string) => void): HTMLElement {
  const shown = make('b', '', code);
  const copy = make('button', 'small', 'Copy the code');
  copy.type = 'button';
  copy.setAttribute('aria-describedby', titleId);
  copy.addEventListener('click', () => {
    navigator.clipboard.writeText(code).then(
      () => copied(`Copied ${code}.`),
      () => {
        // Without the permission it is at least chosen, for the keyboard to copy.
        getSelection()?.selectAllChildren(shown);
        copied('The code is selected: copy it with the keyboard.');
      },
    );
  });
  return make('p', 'code', shown, copy);
}

export function mailItem(message: Message, copied: (text: string) => void): HTMLLIElement {
  const { id, to, subject, text, html, at } = message;
  const title = make('h2', 'subject', subject);
  title.id = `subject-${id}`;
  const item = make(
    'li',
    'card',
    title,
    make('p', 'meta', make('span', '', `to ${to}`), timeOf(at)),
  );
  item.dataset.mail = id;
  const code = codeIn(text);
  if (code !== null) item.append(codeRow(code, title.id, copied));
  item.append(make('pre', 'text', text.trimEnd()));
  const source = make('details', '', make('summary', '', 'HTML, as source'), make('pre', '', html));
  item.append(source);
  return item;
}

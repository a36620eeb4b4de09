// A question before something that cannot be undone.
import { make } from './dom.ts';

export interface Question {
  title: string;
  text: string;
  yes: string;
  no: string;
}

/** Whether it was answered with yes. Escape is a no, and the focus goes back to where it was. */
export function confirmed({ title, text, yes, no }: Question): Promise<boolean> {
  const heading = make('h2', { text: title });
  const words = make('p', { text });
  heading.id = 'question-title';
  words.id = 'question-text';
  const choice = (value: string, label: string, className: string) => {
    const made = make('button', { text: label, className });
    made.value = value;
    return made;
  };
  const actions = make(
    'div',
    { className: 'actions' },
    choice('no', no, 'small'),
    choice('yes', yes, 'small danger'),
  );
  const form = make('form', {}, heading, words, actions);
  form.method = 'dialog';
  const dialog = make('dialog', {}, form);
  dialog.setAttribute('aria-labelledby', heading.id);
  dialog.setAttribute('aria-describedby', words.id);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes');
    });
  });
}

// What a new account needs beside an address. The page for signing up asks for it, or the server
// finds it lacking behind a right code.
import { element, make } from './dom.ts';
import { Field } from './field.ts';
import type { Person } from './pending.ts';

const names = ['full_name', 'referral_code', 'terms_accepted'] as const;
type Name = (typeof names)[number];

const lacks: Readonly<Record<Name, string>> = {
  full_name: 'Type your name.',
  referral_code: 'There is no such code. Correct it, or leave it out.',
  terms_accepted: 'Accept the terms to go on.',
};

export class PersonFields {
  readonly #fields: Readonly<Record<Name, Field>>;

  constructor(termsUrl: string | null) {
    this.#fields = {
      full_name: new Field('full_name'),
      referral_code: new Field('referral_code'),
      terms_accepted: new Field('terms_accepted'),
    };
    if (termsUrl !== null && /^https?:/.test(termsUrl)) linkTerms(termsUrl);
  }

  read(): Person {
    const { full_name, referral_code, terms_accepted } = this.#fields;
    const person: Person = {};
    if (full_name.value !== '') person.full_name = full_name.value;
    if (referral_code.value !== '') person.referral_code = referral_code.value;
    if (terms_accepted.input.checked) person.terms_accepted = true;
    return person;
  }

  fill(person: Person): void {
    const { full_name, referral_code, terms_accepted } = this.#fields;
    full_name.input.value = person.full_name ?? '';
    referral_code.input.value = person.referral_code ?? '';
    terms_accepted.input.checked = person.terms_accepted === true;
  }

  /** Whether all is there that is asked for here; else it is said at the first that is not. */
  check(): boolean {
    const { full_name, terms_accepted } = this.#fields;
    if (full_name.value === '') full_name.fail(lacks.full_name);
    else if (!terms_accepted.input.checked) terms_accepted.fail(lacks.terms_accepted);
    else return true;
    return false;
  }

  /** Brings a member that the server misses below the code; false: it is none of these. */
  lack(path: string | null): boolean {
    const name = names.find((each) => each === path);
    if (name === undefined) return false;
    element('lacking', HTMLElement).append(element(`${name}-field`, HTMLElement));
    this.#fields[name].fail(lacks[name]);
    return true;
  }

  /** Back to the form where they are asked with the address. */
  return(): void {
    for (const name of names) {
      this.#fields[name].clear();
      element('person', HTMLElement).append(element(`${name}-field`, HTMLElement));
    }
  }
}

/** In a tab of their own: what was typed here stays. */
function linkTerms(url: string): void {
  const words = element('terms', HTMLElement);
  const link = make('a', { text: words.textContent ?? '' });
  link.href = url;
  link.target = '_blank';
  link.rel = 'noopener';
  words.replaceChildren(link);
}

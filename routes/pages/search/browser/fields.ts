// Parameters as form fields. An empty one is left to the service's default.
import { make } from './dom.ts';
import type { ParameterValue } from './request.ts';
import type { Field } from './surfaces.ts';

/** Makes the fields of a surface; ids are `field-NAME`. */
export function fillFields(box: HTMLElement, fields: readonly Field[]): void {
  box.replaceChildren(...fields.map(fieldOf));
}

function fieldOf(field: Field): HTMLElement {
  const id = `field-${field.name}`;
  const label = make('label', {}, `${field.label} `, ...exampleIn(field.example));
  label.htmlFor = id;
  const input = field.type === 'choice' ? selectOf(field) : inputOf(field);
  input.id = id;
  input.dataset.name = field.name;
  input.dataset.type = field.type;
  return make('div', { className: 'field' }, label, input);
}

/** An example stands in the label: within the field it would be gone when it is needed. */
export function exampleIn(example: string | undefined): Node[] {
  return example === undefined ? [] : [make('i', { text: `(${example})` })];
}

function selectOf({ choices = [] }: Field): HTMLSelectElement {
  const select = make('select');
  const options = choices.map((value) => new Option(value.replaceAll('_', ' '), value));
  select.append(new Option('as usual', ''), ...options);
  return select;
}

function inputOf({ type }: Field): HTMLInputElement {
  const input = make('input');
  input.type = type === 'number' || type === 'date' ? type : 'text';
  input.autocomplete = 'off';
  if (type === 'number') {
    input.min = '0';
    input.inputMode = 'numeric';
  }
  return input;
}

/** What is filled in, by the names of the API. */
export function valuesOf(box: HTMLElement): Record<string, ParameterValue> {
  const values: Record<string, ParameterValue> = {};
  for (const input of box.querySelectorAll<HTMLInputElement>('[data-name]')) {
    const text = input.value.trim();
    const { name = '', type } = input.dataset;
    if (text === '') continue;
    if (type === 'number') values[name] = Number(text);
    else if (type === 'list') values[name] = listOf(text);
    else values[name] = text;
  }
  return values;
}

const listOf = (text: string): string[] => text.split(/[\s,]+/).filter((part) => part !== '');

/** Marks the field that the service names, and goes there. False: there is none of that name. */
export function markWrong(form: HTMLElement, path: string | null): boolean {
  for (const wrong of form.querySelectorAll('[aria-invalid]'))
    wrong.removeAttribute('aria-invalid');
  if (path === null) return false;
  const name = path.split('.').at(-1) ?? '';
  const id = name === 'query' ? 'query' : `field-${name}`;
  const input = form.querySelector<HTMLInputElement>(`#${CSS.escape(id)}`);
  if (input === null) return false;
  input.setAttribute('aria-invalid', 'true');
  const details = input.closest('details');
  if (details !== null) details.open = true;
  input.focus();
  return true;
}

// Prints what the checks find: `node dist/test/tidy/report.js [part of a check's name] [folder]`.
// `circles` instead of a name prints every import inside each circle.
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checks } from './checks.ts';
import { circlesInDetail } from './circles.ts';
import { readTree } from './tree.ts';

const [, , part = '', folder] = process.argv;
const here = fileURLToPath(new URL('../../../', import.meta.url));
const tree = readTree(folder === undefined ? here : resolve(folder));
const say = (line: string) => process.stdout.write(`${line}\n`);

if (part === 'circles') {
  for (const isByValue of [true, false]) {
    say(`# ${isByValue ? 'by value' : 'by value or type'}`);
    for (const component of circlesInDetail(tree, isByValue)) say(component);
  }
} else {
  for (const check of checks.filter(({ name }) => name.includes(part))) {
    const findings = check.find(tree);
    say(`# ${check.name}: ${findings.length}`);
    for (const finding of findings) say(finding);
  }
}

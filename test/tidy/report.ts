// Prints what the checks find: `node dist/test/tidy/report.js [part of an id] [folder]`.
// Two more ids tell all: `every-circle` each import inside the circles, `fragments` each comment.
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checks } from './checks.ts';
import { circlesInDetail } from './circles.ts';
import { fragmentsOf } from './fragments.ts';
import { readTree, type Tree } from './tree.ts';

const [, , part = '', folder] = process.argv;
const here = fileURLToPath(new URL('../../../', import.meta.url));
const lines: string[] = [];
const say = (line: string) => lines.push(line);

function everyCircle(tree: Tree): void {
  for (const isByValue of [true, false]) {
    say(`# ${isByValue ? 'by value' : 'by value or type'}`);
    for (const component of circlesInDetail(tree, isByValue)) say(component);
  }
}

/** Files with the most fragments first. */
function fragments(tree: Tree): void {
  const found = tree.sources
    .map((source) => ({ path: source.path, faults: fragmentsOf(source) }))
    .filter(({ faults }) => faults.length > 0)
    .sort((left, right) => right.faults.length - left.faults.length);
  for (const { path, faults } of found) {
    say(`# ${path}: ${faults.length}`);
    for (const fault of faults) say(fault);
  }
}

function report(tree: Tree): void {
  for (const check of checks.filter(({ id }) => id.includes(part))) {
    const findings = check.find(tree);
    say(`# ${check.id}: ${findings.length} (${check.rule}; ${check.advice})`);
    for (const finding of findings) say(finding);
  }
}

const tree = readTree(folder === undefined ? here : resolve(folder));
if (part === 'every-circle') everyCircle(tree);
else if (part === 'fragments') fragments(tree);
else report(tree);
// Whoever reads may have had enough of it.
process.stdout.on('error', () => process.exit(0));
process.stdout.write(`${lines.join('\n')}\n`);

// Ends the process in one line where this Node cannot run the product. Plain JavaScript that needs
// no package: what it guards against is that some cannot be loaded.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url);

/** Whether `version` is in a range as `engines` has it: carets joined by `||`. */
function isInRange(version, range) {
  const [major, minor, patch] = version.split('.').map(Number);
  return range.split('||').some((caret) => {
    const [wanted, minorMin = 0, patchMin = 0] = caret.trim().slice(1).split('.').map(Number);
    if (major !== wanted) return false;
    return minor > minorMin || (minor === minorMin && patch >= patchMin);
  });
}

/**
 * The official uWebSockets.js has binaries for later versions, which may ask for a later system.
 * Null: this one can be loaded. Else why not, as it goes on behind the version.
 */
function faultOfLater({ node, modules }) {
  const name = `uws_${process.platform}_${process.arch}_${modules}.node`;
  const file = new URL(`node_modules/uWebSockets.js/${name}`, root);
  if (Number.parseInt(node, 10) <= 22 || !existsSync(file)) return '';
  try {
    createRequire(import.meta.url)(fileURLToPath(file));
    return null;
  } catch (error) {
    return `, where uWebSockets.js cannot be loaded (${String(error.message).split('\n')[0]})`;
  }
}

const { engines } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
const { node: version } = process.versions;
const fault = isInRange(version, engines.node) ? null : faultOfLater(process.versions);
if (fault !== null) {
  const script = process.env.npm_lifecycle_event || 'start';
  const command = script === 'start' || script === 'test' ? script : `run ${script}`;
  const remedy = `npx -p node@22 npm ${command}`;
  process.stderr.write(
    `tollgate needs Node ${engines.node}, this is ${version}${fault}: ${remedy}\n`,
  );
  process.exit(1);
}

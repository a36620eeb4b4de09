// What the lock file must say, so that it works on every platform.
import type { Check } from './check.ts';

interface LockedPackage {
  optionalDependencies?: Record<string, string>;
}

export const lockFile: Check = {
  id: 'lock-file',
  rule: 'the lock file names every optional package, also those of other platforms',
  advice: 'add them with version, os and cpu',
  find({ texts }) {
    const text = texts.find(({ path }) => path === 'package-lock.json')?.text ?? '{"packages":{}}';
    const lock: { packages: Record<string, LockedPackage> } = JSON.parse(text);
    const locked = new Set(
      Object.keys(lock.packages).map((path) => path.split('node_modules/').at(-1)),
    );
    // A registry mirror with holes makes npm leave them out, and then `npm ci` refuses the file.
    return Object.values(lock.packages).flatMap(({ optionalDependencies = {} }) =>
      Object.keys(optionalDependencies).filter((name) => !locked.has(name)),
    );
  },
};

// The library of properties, with the seed of the tests: every test file takes it from here.
import fc from 'fast-check';
import { testSeed } from './seed.ts';

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: testSeed });

export { fc };

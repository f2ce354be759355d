import { catalogue, codesOfWindow } from '../../src/core/base/problemCatalogue.js';

const catalogued = Object.keys(catalogue).map((key) => key.replace(/:.*/, ''));

/** Each code once, in the order of the catalogue. */
export const problemCodes: readonly string[] = [...new Set([...catalogued, ...codesOfWindow])];

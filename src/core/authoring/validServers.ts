import type { ServerDefinition } from '../config/model.js';
import { ConfigState } from '../config/read/merge.js';

/** Fits each place that takes a variable or a secret. */
const anyValue = 'https://x';

const everyVariable = {
  get: () => anyValue,
  getOwnPropertyDescriptor: () => ({ value: anyValue, configurable: true }),
};

/**
 * Returns the servers without errors. Each variable, secret and folder counts as there.
 * @param layer the text of a layer over them (C7)
 */
export function validServers(text: string, layer?: string): readonly ServerDefinition[] {
  const deps = {
    env: new Proxy({}, everyVariable),
    directoryExists: () => true,
    secret: () => anyValue,
  };
  const sources = [
    {
      file: '',
      folder: '/',
      text,
    },
    {
      file: 'layer',
      folder: '/',
      origin: 'local' as const,
      text: layer,
    },
  ];
  const { servers } = new ConfigState().apply(sources, deps).model;
  return servers.flatMap((server) => (server.kind === 'valid' ? [server.definition] : []));
}

import { clipped } from '../../core/base/text.js';

const longestName = 60;

export function linkName(name: string, extension: string): string {
  const plain = name
    // Half a surrogate pair cannot be in an address.
    .replace(/\p{Cs}/gu, '\ufffd')
    .replace(/[\s/\\?#%*:|"<>[\]`]+/g, ' ')
    .trim()
    .replace(/^[\s.]+/, '');
  const short = clipped(plain, longestName + 1);
  if (short.toLowerCase().endsWith(extension.toLowerCase()) && short.length > extension.length)
    return short;
  return `${short === '' ? 'file' : short}${extension}`;
}

/**
 * Returns server, tool and file of `/<server>/<tool>/<file>/<name>`, or undefined for any other
 * path.
 */
export function artifactPath(path: string): readonly [string, string, string] | undefined {
  const [first, server, tool, file, name, ...more] = path.split('/');
  if (first !== '' || more.length > 0 || !name) return undefined;
  const isPart = (part: string | undefined): part is string =>
    part !== undefined && /^[\w.-]+$/.test(part) && !/^\.+$/.test(part);
  return isPart(server) && isPart(tool) && isPart(file) ? [server, tool, file] : undefined;
}

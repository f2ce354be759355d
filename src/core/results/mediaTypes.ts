/** The types that models take (V2), and a common unofficial spelling. */
const imageTypes: ReadonlyMap<string, string> = new Map([
  ['image/jpeg', 'image/jpeg'],
  ['image/jpg', 'image/jpeg'],
  ['image/png', 'image/png'],
  ['image/gif', 'image/gif'],
  ['image/webp', 'image/webp'],
]);

const signatures: readonly (readonly [type: string, pattern: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n\x1a\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[^]{4}WEBP/],
];

/** Only known types are listed, because a server must not choose the program that opens its file. */
const extensions: Readonly<Record<string, string>> = {
  'image/jpeg': 'jpg',
  'image/jpg': 'jpg',
  'image/png': 'png',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/svg+xml': 'svg',
  'image/bmp': 'bmp',
  'image/tiff': 'tiff',
  'image/avif': 'avif',
  'image/heic': 'heic',
  'image/x-icon': 'ico',
  'image/vnd.microsoft.icon': 'ico',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/vnd.wave': 'wav',
  'audio/ogg': 'ogg',
  'audio/opus': 'opus',
  'audio/flac': 'flac',
  'audio/x-flac': 'flac',
  'audio/aac': 'aac',
  'audio/mp4': 'm4a',
  'audio/x-m4a': 'm4a',
  'audio/webm': 'webm',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'video/quicktime': 'mov',
  'application/pdf': 'pdf',
  'application/json': 'json',
  'application/xml': 'xml',
  'application/zip': 'zip',
  'application/gzip': 'gz',
  'application/x-tar': 'tar',
  'application/wasm': 'wasm',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
  'text/plain': 'txt',
  'text/markdown': 'md',
  'text/csv': 'csv',
  'text/html': 'html',
  'text/css': 'css',
  'text/xml': 'xml',
  'font/woff2': 'woff2',
};

/**
 * Returns the type under which a model takes an image, or undefined. The first bytes count more than the declared type,
 * because a provider refuses the whole conversation for an image with a wrong type.
 */
export function modelImageType(declared: string | undefined, base64: string): string | undefined {
  const type = declared === undefined ? undefined : bareType(declared);
  if (type !== undefined && type !== 'application/octet-stream' && !type.startsWith('image/')) return undefined;
  const start = Buffer.from(base64.slice(0, 64).replace(/\s+/g, ''), 'base64').toString('latin1');
  const signed = signatures.find(([, pattern]) => pattern.test(start))?.[0];
  return signed ?? (type === undefined ? undefined : imageTypes.get(type));
}

export function extensionOf(type: string | undefined): string {
  if (type === undefined) return 'bin';
  const bare = bareType(type);
  // A server writes the type, and might name an inherited property.
  if (Object.hasOwn(extensions, bare)) return extensions[bare] ?? 'bin';
  const structure = /\+(json|xml|zip)$/.exec(bare)?.[1];
  return structure ?? 'bin';
}

export function hasModelImage(file: string): boolean {
  return [...imageTypes.values()].some((type) => file.endsWith(`.${extensionOf(type)}`));
}

export function bareType(type: string): string {
  return (type.split(';', 1)[0] ?? '').trim().toLowerCase();
}

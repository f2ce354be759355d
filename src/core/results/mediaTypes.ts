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

/** A server must not choose the program that opens its file, so only known types have extensions. */
const ownExtensions: Readonly<Record<string, readonly string[]>> = {
  image: ['png', 'gif', 'webp', 'bmp', 'tiff', 'avif', 'heic', 'jpg'],
  audio: ['mp3', 'wav', 'ogg', 'opus', 'flac', 'aac', 'webm'],
  video: ['mp4', 'webm'],
  application: ['pdf', 'json', 'xml', 'zip', 'wasm'],
  text: ['csv', 'html', 'css', 'xml'],
  font: ['woff2'],
};

/** The extensions of other types. */
const extensions: ReadonlyMap<string, string> = new Map([
  ['image/jpeg', 'jpg'],
  ['image/svg+xml', 'svg'],
  ['image/x-icon', 'ico'],
  ['image/vnd.microsoft.icon', 'ico'],
  ['audio/mpeg', 'mp3'],
  ['audio/x-wav', 'wav'],
  ['audio/wave', 'wav'],
  ['audio/vnd.wave', 'wav'],
  ['audio/x-flac', 'flac'],
  ['audio/mp4', 'm4a'],
  ['audio/x-m4a', 'm4a'],
  ['video/quicktime', 'mov'],
  ['application/gzip', 'gz'],
  ['application/x-tar', 'tar'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['application/vnd.openxmlformats-officedocument.presentationml.presentation', 'pptx'],
  ['text/plain', 'txt'],
  ['text/markdown', 'md'],
]);

/**
 * The first bytes count more than the declared type, because a provider refuses the whole conversation for an image
 * with a wrong type.
 */
export function modelImageType(declared: string | undefined, base64: string): string | undefined {
  const type = declared === undefined ? undefined : bareType(declared);
  if (type !== undefined && type !== 'application/octet-stream' && !type.startsWith('image/')) return undefined;
  const start = Buffer.from(base64.slice(0, 64).replace(/\s+/g, ''), 'base64').toString('latin1');
  const signed = signatures.find(([, pattern]) => pattern.test(start))?.[0];
  return signed ?? (type === undefined ? undefined : imageTypes.get(type));
}

export function extensionOf(type: string | undefined): string {
  const bare = bareType(type ?? '');
  const [, kind = '', name = ''] = /^(\w+)\/([\w+.-]+)$/.exec(bare) ?? [];
  // A server writes the type, and might name an inherited property.
  if (Object.hasOwn(ownExtensions, kind) && ownExtensions[kind]?.includes(name)) return name;
  return extensions.get(bare) ?? /\+(json|xml|zip)$/.exec(bare)?.[1] ?? 'bin';
}

export function hasModelImage(file: string): boolean {
  return [...imageTypes.values()].some((type) => file.endsWith(`.${extensionOf(type)}`));
}

export function bareType(type: string): string {
  return (type.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** Known defects of the product, by their differences. The commit with the fix removes the row. */
interface Known {
  readonly server: string;
  readonly roads: readonly string[];
  readonly what: readonly string[];
  readonly why: string;
  /** A server before it, without which there is no difference. */
  readonly beside?: string;
}

const refused =
  'The server asks for roots at `notifications/initialized`. The host refuses and never notifies it later.';
const unnamed =
  'A server of 2026-07-28 names itself in the `_meta` of every result. The gateway does so for `server/discover` only.';
const unlisted =
  'A URI in no list goes to the first server with resources, and the answer of that server is final. Other servers are not asked.';

export const known: readonly Known[] = [
  {
    server: 'roots',
    roads: ['toolset', 'all', 'editor', 'connect', 'two conversations'],
    what: ['tools/call list_allowed_directories', 'tools/call list_directory', 'tools/call read_text_file'],
    why: refused,
  },
  { server: 'roots', roads: ['death'], what: ['tools/call list_allowed_directories'], why: refused },
  { server: 'onepassword', roads: ['toolset', 'all', 'connect'], what: ['serverInfo of results'], why: unnamed },
  { server: 'context7', roads: ['toolset', 'all', 'connect'], what: ['serverInfo of results'], why: unnamed },
  {
    server: 'onepassword',
    roads: ['all', 'connect'],
    what: ['resources/read 1password://nothing'],
    why: unlisted,
    beside: 'everything',
  },
];

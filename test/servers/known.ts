/** Differences that the product is known to make. The commit that mends one removes its row. */
interface Known {
  readonly server: string;
  readonly roads: readonly string[];
  readonly what: readonly string[];
  readonly why: string;
}

const withoutName =
  'A server of 2026-07-28 names itself in the `_meta` of every result. The gateway does so for `server/discover` only.';

export const known: readonly Known[] = [
  {
    server: 'roots',
    roads: ['toolset', 'all', 'editor', 'connect', 'two conversations'],
    what: ['tools/call list_allowed_directories', 'tools/call list_directory', 'tools/call read_text_file'],
    why: 'The server asks for roots at `notifications/initialized`. The host refuses, and never notifies of roots later.',
  },
  {
    server: 'roots',
    roads: ['death'],
    what: ['tools/call list_allowed_directories'],
    why: 'The same, in the instance after a death.',
  },
  { server: 'onepassword', roads: ['toolset', 'all', 'connect'], what: ['serverInfo of results'], why: withoutName },
  { server: 'context7', roads: ['toolset', 'all', 'connect'], what: ['serverInfo of results'], why: withoutName },
];

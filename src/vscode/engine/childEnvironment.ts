/**
 * The environment of a terminal of this editor, for servers and `{ env: NAME }`. VS Code cleans its
 * terminals by the same patterns (`sanitizeProcessEnvironment`). `ELECTRON_RUN_AS_NODE` makes
 * Electron programs a bare Node, a Node server with `VSCODE_INSPECTOR_OPTIONS` waits for a
 * debugger, and the libraries of `SNAP*` and `GDK_PIXBUF_*` break programs of the system.
 * `NODE_OPTIONS` stays, because it is the person's. Does not import `vscode` or read `process.env`.
 */
const ownToTheEditor: readonly RegExp[] = [
  /^ELECTRON_/,
  /^VSCODE_(?!PORTABLE|SHELL_LOGIN|ENV_REPLACE|ENV_APPEND|ENV_PREPEND)/,
  /^SNAP(_|$)/,
  /^GDK_PIXBUF_/,
];

export function childEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !ownToTheEditor.some((pattern) => pattern.test(name))),
  );
}

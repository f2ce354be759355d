/**
 * Makes the environment that servers inherit and that `{ env: NAME }` reads: that of a terminal of this editor. VS Code cleans
 * its terminals by the same patterns (`sanitizeProcessEnvironment`). `ELECTRON_RUN_AS_NODE` turns every Electron program into a
 * bare Node, with `VSCODE_INSPECTOR_OPTIONS` a Node server would wait for a debugger, and the libraries of `SNAP*` and
 * `GDK_PIXBUF_*` break programs of the system. `NODE_OPTIONS` stays, because it belongs to the person.
 * Does not import `vscode` or read `process.env`.
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

/**
 * Makes the environment that servers inherit and that `{ env: NAME }` reads. It is what a terminal of this editor would have:
 * the environment of the extension host without what the editor put there for its own processes. Does not import `vscode`
 * and does not read `process.env` itself.
 *
 * The patterns are those by which VS Code cleans the environment of its terminals (`sanitizeProcessEnvironment`):
 *
 * - `ELECTRON_*`: `ELECTRON_RUN_AS_NODE` turns every Electron program that a server starts into a bare Node.
 * - `VSCODE_*`: the editor's sockets and pipes (`VSCODE_IPC_HOOK`, `VSCODE_HANDLES_…`), its entry points
 *   (`VSCODE_ESM_ENTRYPOINT`), its messages (`VSCODE_NLS_CONFIG`), and `VSCODE_INSPECTOR_OPTIONS`, by which a Node server
 *   would attach itself to a debug session and wait there. What the editor's terminals keep is kept here too.
 * - `SNAP*`, `GDK_PIXBUF_*`: the libraries of the editor's own package, which break programs of the system.
 *
 * `NODE_OPTIONS` stays, because it belongs to the person. The debugger's part of it does nothing without `VSCODE_INSPECTOR_OPTIONS`.
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

/**
 * Makes the environment that servers inherit and that `{ env: NAME }` reads: the environment of a terminal of this editor.
 * Does not import `vscode` or read `process.env`.
 *
 * VS Code cleans the environment of its terminals by the same patterns (`sanitizeProcessEnvironment`):
 *
 * - `ELECTRON_*`: `ELECTRON_RUN_AS_NODE` turns every Electron program that a server starts into a bare Node.
 * - `VSCODE_*`: sockets and pipes of the editor (`VSCODE_IPC_HOOK`, `VSCODE_HANDLES_…`), its entry points
 *   (`VSCODE_ESM_ENTRYPOINT`) and its messages (`VSCODE_NLS_CONFIG`). With `VSCODE_INSPECTOR_OPTIONS`, a Node server would
 *   attach to a debug session and wait there. The exceptions are the same as for terminals.
 * - `SNAP*`, `GDK_PIXBUF_*`: libraries of the editor's package, which break programs of the system.
 *
 * `NODE_OPTIONS` stays, because it belongs to the person. Without `VSCODE_INSPECTOR_OPTIONS`, its debugger part does nothing.
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

/** Decides whether a person is asked in the chat before a tool is called (S4). A denied tool is not offered at all. Pure. */
import type { DialogTool } from '../../core/dialog/model.js';
import { builtInNames } from '../../core/host/admin.js';
import { compilePermissions, permissionOf } from '../../core/tools/permissions.js';

/**
 * Follows the editor, which asks unless a tool only reads, if no rule says otherwise. A rule that allows a tool counts only if
 * it is the person's own, because a workspace must not answer for them. The host's own tools need no question.
 *
 * @param settings The setting `mcpToolsets.toolPermissions` in each scope, the person's own first.
 */
export function needsQuestion({ name, annotations }: DialogTool, settings: readonly unknown[]): boolean {
  const rules = compilePermissions(settings);
  if (permissionOf(name, rules).permission !== 'allow') return true;
  const [own = []] = rules;
  if (own.some(({ pattern }) => pattern.matches(name))) return false;
  return annotations?.readOnlyHint !== true && !builtInNames.has(name);
}

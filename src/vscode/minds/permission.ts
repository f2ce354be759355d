/** Whether a person is asked in the chat before a tool is called (S4). What is denied is not offered at all. Pure. */
import type { DialogTool } from '../../core/dialog/model.js';
import { builtInNames } from '../../core/host/admin.js';
import { compilePermissions, permissionOf } from '../../core/tools/permissions.js';

/**
 * As the editor does, which asks unless a tool only reads, where no rule says otherwise. That a rule allows it counts if it
 * is the person's own: a workspace must not answer for them. The host's own tools need no question.
 *
 * @param settings `mcpToolsets.toolPermissions` at each place where it can be set, the person's own first
 */
export function needsQuestion({ name, annotations }: DialogTool, settings: readonly unknown[]): boolean {
  const rules = compilePermissions(settings);
  if (permissionOf(name, rules).permission !== 'allow') return true;
  const [own = []] = rules;
  if (own.some(({ pattern }) => pattern.matches(name))) return false;
  return annotations?.readOnlyHint !== true && !builtInNames.has(name);
}

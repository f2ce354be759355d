/** Tells a person why something that they asked for failed. */
import { inert } from '../../core/base/inert.js';
import { messageOf } from '../../core/base/text.js';
import { window } from './inertEditor.js';

/** Runs what a person asked for, and shows a failure as an error message. Never rejects. */
export async function orShowFailure(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    void window.showErrorMessage(inert`${messageOf(error)}`);
  }
}

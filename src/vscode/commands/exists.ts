/** Whether something is at a path of this machine. Never rejects. */
import { stat } from 'node:fs/promises';

export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/**
 * The server form keeps state in the browser's stores and writes it from time to time. A reload
 * restores only written editors and chats.
 */
import type { EditorWindow } from './window.ts';

const limitMs = 60_000;
const pauseMs = 250;

/** Resolves when a value with `key` in its key contains `text`. */
export async function untilStored(window: EditorWindow, key: string, text: string): Promise<void> {
  const limit = Date.now() + limitMs;
  while (
    !(await window.page.evaluate<boolean>(`(${isStored})(${JSON.stringify({ key, text })})`))
  ) {
    if (Date.now() > limit)
      throw new Error(`Not stored within ${limitMs} ms: ${text} under ${key}`);
    await new Promise((done) => setTimeout(done, pauseMs));
  }
}

/** The page runs this text unchanged, because a compiler would add names unknown to the page. */
const isStored = `async ({ key, text }) => {
  const settled = (request) =>
    new Promise((done, failed) => {
      request.onsuccess = () => done(request.result);
      request.onerror = () => failed(request.error);
    });
  for (const { name } of await indexedDB.databases()) {
    if (!name.startsWith('vscode-web')) continue;
    const base = await settled(indexedDB.open(name));
    try {
      for (const store of base.objectStoreNames) {
        const keys = await settled(base.transaction(store).objectStore(store).getAllKeys());
        for (const one of keys.filter((candidate) => String(candidate).includes(key))) {
          const value = await settled(base.transaction(store).objectStore(store).get(one));
          const kept = value instanceof Uint8Array ? new TextDecoder().decode(value) : String(value);
          if (kept.includes(text)) return true;
        }
      }
    } finally {
      base.close();
    }
  }
  return false;
}`;

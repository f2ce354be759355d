/** Finds a Chromium, or installs Debian's. Does not download browsers from elsewhere. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { installOnDebian, onPath } from '../debian.ts';

/**
 * The first is Chromium without windows. It takes a quarter less processor time for the same page.
 */
const names = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'microsoft-edge',
];

const wellKnown: Partial<Record<NodeJS.Platform, string[]>> = {
  darwin: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge',
  ],
  win32: ['ProgramFiles', 'ProgramFiles(x86)', 'LocalAppData'].flatMap((variable) => {
    const base = process.env[variable];
    return base
      ? [
          join(base, 'Google/Chrome/Application/chrome.exe'),
          join(base, 'Microsoft/Edge/Application/msedge.exe'),
        ]
      : [];
  }),
};

/** The path of a Chromium. On Debian, root installs a missing one. */
export async function ensureChromium(): Promise<string> {
  const found = findChromium();
  if (found) return found;
  if (await installOnDebian('chromium-headless-shell')) {
    const installed = findChromium();
    if (installed) return installed;
  }
  throw new Error(
    'No Chromium found: install Chromium, Chrome or Edge, or set CHROME_PATH to one (on Debian: apt-get install chromium)',
  );
}

function findChromium(): string | undefined {
  const chosen = process.env['CHROME_PATH'];
  if (chosen) {
    if (!existsSync(chosen))
      throw new Error(`CHROME_PATH names a file that is not there: ${chosen}`);
    return chosen;
  }
  for (const name of names) {
    const found = onPath(name);
    if (found) return found;
  }
  return wellKnown[process.platform]?.find((path) => existsSync(path));
}

/**
 * The pages of the documentation, in the language of the person if there is one. Loaded on demand.
 */
import * as vscode from 'vscode';
import { inert } from '../../../core/base/inert.js';
import { choose } from '../inertEditor.js';
import { explanation } from './problemTexts.js';

const security = 'SECURITY.md';

function folderOf(root: vscode.Uri, name: string): vscode.Uri {
  return name === security ? root : vscode.Uri.joinPath(root, 'docs');
}

async function namesIn(folder: vscode.Uri): Promise<string[]> {
  return (await vscode.workspace.fs.readDirectory(folder)).map(([name]) => name);
}

async function read(root: vscode.Uri, name: string): Promise<string> {
  const folder = folderOf(root, name);
  const inLanguage = name.replace(/\.md$/, `.${vscode.env.language}.md`).toLowerCase();
  const names = await namesIn(folder);
  const found = names.find((one) => one.toLowerCase() === inLanguage) ?? name;
  const bytes = await vscode.workspace.fs.readFile(vscode.Uri.joinPath(folder, found));
  return new TextDecoder().decode(bytes);
}

/** Returns the page of a name, or of the code of a problem. */
export async function pageOf(root: vscode.Uri, name: string): Promise<string> {
  const code = name.slice(0, -'.md'.length);
  const problems = await read(root, 'problems.md');
  return problems.includes(`<a id="${code}">`) ? explanation(problems, code) : read(root, name);
}

export async function choosePage(root: vscode.Uri): Promise<string | undefined> {
  const names = await namesIn(folderOf(root, ''));
  // A page in another language has a second dot.
  const english = names.filter((name) => /^[\w-]+\.md$/.test(name));
  const pages = [...english.sort(), security].map(async (name) => {
    const title = /^# (.+)/.exec(await read(root, name))?.[1] ?? name;
    return { title: title.replaceAll('`', ''), name };
  });
  const options = { placeHolder: inert`Choose a page` };
  const page = await choose(await Promise.all(pages), options, ({ title }) => ({
    label: inert`${title}`,
  }));
  return page?.name;
}

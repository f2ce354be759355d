/**
 * Writing the config file with only this extension: completion, hover, lenses, outline, quick fixes
 * (E1, E2).
 */
import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { needsPage, page } from '../../support/editor/bridge.ts';
import {
  configFile,
  invoke,
  problems,
  readConfig,
  until,
  untilProblems,
  untilTools,
} from '../../support/editor/product.ts';

const uri = (): vscode.Uri => vscode.Uri.file(configFile());
const start = [
  'mcp_alpha_echo',
  'mcp_alpha_count',
  'mcp_alpha_count_up',
  'mcp_beta_echo',
  'mcp_beta_add',
];
const kept = 'filtered-tools whitelist';

/** The file in an editor, with another unsaved text. `¦` marks the cursor. */
async function typed(marked: string): Promise<vscode.TextEditor> {
  const editor = await vscode.window.showTextDocument(uri());
  const cursor = marked.indexOf('¦');
  const whole = new vscode.Range(0, 0, editor.document.lineCount, 0);
  await editor.edit((edit) => edit.replace(whole, marked.replace('¦', '')));
  const at = editor.document.positionAt(Math.max(0, cursor));
  editor.selection = new vscode.Selection(at, at);
  editor.revealRange(new vscode.Range(at, at));
  return editor;
}

/**
 * Changes the file as a person does, in the editor, and saves it. During another save, the editor
 * declines one.
 */
async function saved(text: string): Promise<void> {
  const { document } = await typed(text);
  await until(() => document.save(), Boolean, 'the save');
}

async function completions(marked: string): Promise<string[]> {
  const editor = await typed(marked);
  const { items } = await vscode.commands.executeCommand<vscode.CompletionList>(
    'vscode.executeCompletionItemProvider',
    uri(),
    editor.selection.active,
  );
  return items
    .filter(({ kind }) => kind !== vscode.CompletionItemKind.Text)
    .map(({ label }) => (typeof label === 'string' ? label : label.label));
}

async function hovers(marked: string): Promise<string> {
  const editor = await typed(marked);
  const found = await vscode.commands.executeCommand<vscode.Hover[]>(
    'vscode.executeHoverProvider',
    uri(),
    editor.selection.active,
  );
  return found
    .flatMap(({ contents }) => contents.map((one) => (one as vscode.MarkdownString).value))
    .join('\n');
}

async function lensTitles(): Promise<string[]> {
  const found = await vscode.commands.executeCommand<vscode.CodeLens[]>(
    'vscode.executeCodeLensProvider',
    uri(),
  );
  return found.map(
    ({ range, command }) =>
      `${range.start.line + 1} ${(command?.title ?? '').replace('\u00a0', ' ')}`,
  );
}

async function actionsFor(code: string): Promise<vscode.CodeAction[]> {
  const diagnostic = vscode.languages
    .getDiagnostics(uri())
    .find((one) => (typeof one.code === 'object' ? one.code.value : one.code) === code);
  assert.ok(diagnostic, `no problem ${code}`);
  return vscode.commands.executeCommand(
    'vscode.executeCodeActionProvider',
    uri(),
    diagnostic.range,
  );
}

async function apply(actions: readonly vscode.CodeAction[], title: string): Promise<void> {
  const action = actions.find((one) => one.title === title);
  assert.ok(action?.edit, actions.map((one) => one.title).join(' | ') || 'no action');
  await vscode.workspace.applyEdit(action.edit);
  assert.ok(await (await vscode.workspace.openTextDocument(uri())).save());
}

describe('authoring', () => {
  let original: string;

  before(async () => {
    original = await readConfig();
    await untilTools(start);
    await vscode.window.showTextDocument(uri());
  });

  afterEach(async () => {
    const { document } = await vscode.window.showTextDocument(uri());
    await vscode.commands.executeCommand('leaveSnippet');
    await until(
      async () => {
        if (document.isDirty || document.getText() !== original) await saved(original);
        return readConfig();
      },
      (text) => text === original && !document.isDirty,
      'the original file',
    );
    await untilTools(start);
    await untilProblems([kept]);
  });

  it('Completion offers keys, values, live names of tools, variables and folders', async () => {
    const files = [
      'config file: stdio',
      'config file: streamable_http',
      'config file: streamable_http with a token',
    ];
    assert.deepEqual((await completions('¦')).sort(), [
      ...files,
      'maxInstances',
      'servers',
      'version',
    ]);
    assert.ok(
      (await completions('version: 1\nservers:\n  a:\n    tra¦\n    command: npx\n')).includes(
        'transport',
      ),
    );
    assert.deepEqual(await completions(original.replace('transport: stdio #', 'transport: ¦ #')), [
      'stdio',
      'streamable_http',
    ]);
    const names = await completions(original.replace("'count*', 'echo'", "'count*', ¦"));
    assert.deepEqual(names.sort(), ['count', 'count_up', 'echo', 'pid'], 'also what is kept out');
    assert.ok((await completions(original.replace('env: HOME', 'env: ¦'))).includes('HOME'));
    assert.ok((await completions(`${original}    cwd: ¦`)).includes('notes'));
    assert.ok(
      (await completions(original.replace("'echo,add']", "'echo,add', './¦']"))).includes(
        './notes',
      ),
    );
  });

  it("A completion keeps the editor's indentation", async () => {
    const editor = await typed('version: 1\nservers:\n  search¦');
    await vscode.commands.executeCommand('editor.action.triggerSuggest');
    // The command does nothing until the list shows a suggestion.
    const text = await until(
      async () => {
        await vscode.commands.executeCommand('acceptSelectedSuggestion');
        return editor.document.getText();
      },
      (now) => now.includes('transport'),
      'the snippet',
    );
    assert.match(
      text,
      /^version: 1\nservers:\n {2}search:\n {4}transport: stdio\n {4}command: npx\n/,
    );
  });

  it('Hovers explain keys, patterns, transforms and references', async () => {
    assert.match(
      await hovers(original.replace('command: node', 'comm¦and: node')),
      /The program to start/,
    );
    assert.match(
      await hovers(original.replace("'count*'", "'cou¦nt*'")),
      /Matches \*\*2\*\* of the 4 tools of `alpha`/,
    );
    assert.match(
      await hovers(original.replace("prefix: 'alpha_'", "prefix: 'al¦pha_'")),
      /`echo` \| `alpha_echo`/,
    );
    const reference = await hovers(original.replace('env: HOME', 'env: HO¦ME'));
    assert.match(reference, /`HOME` is set/);
    assert.ok(!reference.includes(process.env['HOME'] ?? 'none'), 'never the value');
    assert.match(await hovers(original.replace('  alpha:', '  al¦pha:')), /running, 3 of 4 tools/);
  });

  it('Lenses show state and actions above each server, and follow it', async () => {
    assert.deepEqual(await lensTitles(), [
      ...['$(pass) Running · 3 of 4 tools', 'Restart', 'Show Log', 'Stop'].map(
        (title) => `4 ${title}`,
      ),
      ...['$(pass) Running · 2 tools', 'Restart', 'Show Log', 'Stop'].map((title) => `13 ${title}`),
    ]);
    await vscode.commands.executeCommand('mcpToolsets.stop', 'beta');
    await until(
      lensTitles,
      (titles) => titles.includes('13 $(circle-large-outline) Stopped'),
      'the lens of beta',
    );
    await vscode.commands.executeCommand('mcpToolsets.start', 'beta');
    await typed(original.replace('whitelist: [', 'whitelist: [['));
    assert.equal((await lensTitles()).length, 8, 'while the YAML is broken');
  });

  it('The config file has an outline', async () => {
    const found = await vscode.commands.executeCommand<vscode.DocumentSymbol[]>(
      'vscode.executeDocumentSymbolProvider',
      uri(),
    );
    assert.deepEqual(
      found.map(({ name, children }) => [name, children.map((child) => child.name)]),
      [
        ['version', []],
        ['servers', ['alpha', 'beta']],
      ],
    );
  });

  it('A rename of a server changes every mention in its folder', async () => {
    const [root] = vscode.workspace.workspaceFolders ?? [];
    assert.ok(root);
    const at = (path: string): vscode.Uri => vscode.Uri.joinPath(root.uri, path);
    const [team, agent, own] = [
      at('.minds/team.yaml'),
      at('.github/agents/ann.agent.md'),
      at('.github/agents/own.agent.md'),
    ];
    const write = (file: vscode.Uri, text: string): Thenable<void> =>
      vscode.workspace.fs.writeFile(file, new TextEncoder().encode(text));
    const read = async (file: vscode.Uri): Promise<string> =>
      new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
    await write(team, 'members:\n  ann: { toolsets: [alpha, beta] }\n');
    try {
      // The command writes nothing before the new team file was read.
      await until(
        async () => {
          await vscode.commands.executeCommand('mcpToolsets.writeAgents');
          return read(agent).catch(() => '');
        },
        (text) => text.includes('alpha/*'),
        'the agent file',
      );
      await write(own, "---\ntools: [read, 'alpha/echo']\n---\n");
      const editor = await typed(original.replace('  alpha:', '  al¦pha:'));
      const edit = await vscode.commands.executeCommand<vscode.WorkspaceEdit>(
        'vscode.executeDocumentRenameProvider',
        uri(),
        editor.selection.active,
        'gamma',
      );
      assert.ok(await vscode.workspace.applyEdit(edit));
      await until(() => vscode.workspace.saveAll(), Boolean, 'the save');
      // The prefix stays, and now differs from the id of the server.
      await untilTools(start.map((tool) => tool.replace('mcp_alpha', 'mcp_gamma_alpha')));
      assert.equal(await readConfig(), original.replace('  alpha:', '  gamma:'));
      await until(
        () => read(team),
        (text) => text === 'members:\n  ann: { toolsets: [gamma, beta] }\n',
        'the new id in the team file',
      );
      const text = await until(
        () => read(agent),
        (now) => now.includes('gamma/*'),
        'the new id in the agent file',
      );
      assert.match(text, /tools: \[.*'gamma\/\*'.*\][^]*member ann; toolsets: gamma, beta -->/);
      assert.equal(await read(own), "---\ntools: [read, 'gamma/echo']\n---\n");
    } finally {
      await vscode.workspace.fs.delete(team);
      await vscode.workspace.fs.delete(at('.github'), { recursive: true });
    }
  });

  it('A quick fix mends a misspelt key and leaves the rest unchanged', async () => {
    await saved(original.replace('transform:', 'transfrom:'));
    await untilProblems([kept, 'unknown-key transfrom', 'name-taken beta']);
    await apply(await actionsFor('unknown-key'), "Rename to 'transform'");
    assert.equal(await readConfig(), original);
    await untilProblems([kept]);
  });

  it('A quick fix gives a prefix to a server with a taken name', async () => {
    await saved(original.replace("    transform:\n      - prefix: 'alpha_'\n", ''));
    await untilProblems([kept, 'name-taken beta']);
    await apply(await actionsFor('name-taken'), "Add the prefix 'beta_'");
    assert.match(
      await readConfig(),
      /env: \{ TOKEN: \{ env: HOME \} \}\n {4}transform:\n {6}- prefix: 'beta_'\n$/,
    );
    await untilProblems([kept]);
  });

  it('A quick fix on the name of a tool adds an override, which the editor gets at once, and a wrong one is a problem (O1, O4)', async () => {
    const echo = (): vscode.LanguageModelToolInformation | undefined =>
      vscode.lm.tools.find(({ name }) => name === 'mcp_alpha_echo');
    const said = echo()?.description ?? '';
    await saved(original.replace("'count*', 'echo'", "'count*', 'ec¦ho'"));
    const { selection } = await vscode.window.showTextDocument(uri());
    const offered = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      'vscode.executeCodeActionProvider',
      uri(),
      selection,
    );
    await apply(offered, "Shorten Description of 'echo'…");
    assert.match(
      await readConfig(),
      new RegExp(
        `\\n {6}override:\\n {8}echo:\\n {10}description: ${JSON.stringify(JSON.stringify(said)).slice(1, -1)}\\n`,
      ),
    );
    const short = (await readConfig()).replace(
      JSON.stringify(said),
      'Says it again.\n          arguments: { text: { fixed: hello } }',
    );
    await saved(short);
    await until(echo, (tool) => tool?.description === 'Says it again.', 'the description');
    assert.deepEqual(Object.keys((echo()?.inputSchema as { properties: object }).properties), []);
    assert.equal(await invoke('mcp_alpha_echo', { text: 'other' }), 'hello');
    assert.match(
      await hovers(short.replace('        echo:', '        ec¦ho:')),
      /Agents read: Says it again[^]*tokens before/,
    );
    await untilProblems([kept]);
    await saved(short.replace('text: {', 'txt: {'));
    const found = await untilProblems([kept, 'override-unknown txt']);
    const problem = found.find(({ code }) => code === 'override-unknown');
    assert.match(problem?.message ?? '', /is not in its schema, so it is not sent/);
    assert.equal(await invoke('mcp_alpha_echo', { text: 'own', txt: 'no' }), 'own');
    await apply(await actionsFor('override-unknown'), 'Change to "text"');
    assert.equal(await readConfig(), short);
    await untilProblems([kept]);
  });

  it('An override that another program writes is a change that the file made, and one that a person writes is none (O5)', async () => {
    const of = (description: string): string =>
      original.replace(
        '      whitelist:',
        `      override: { echo: { description: '${description}' } }\n      whitelist:`,
      );
    const untilSaid = (text: string): Promise<unknown> =>
      until(
        () => vscode.lm.tools.find(({ name }) => name === 'mcp_alpha_echo')?.description,
        (said) => said === text,
        `the description ${text}`,
      );
    assert.match(of('x'), /override/);
    await saved(of('Typed here.'));
    await untilSaid('Typed here.');
    await untilProblems([kept]);
    await vscode.workspace.fs.writeFile(uri(), Buffer.from(of('Pulled.')));
    const shown = await untilProblems([kept, 'tools-changed echo']);
    const pulled = shown.find(({ code }) => code === 'tools-changed');
    assert.equal(pulled?.message.split('\n')[0], 'The file now overrides "echo" of "alpha".');
    // An edit of the pulled override accepts nothing of it.
    await saved(of('Pulled, then edited.'));
    await untilSaid('Pulled, then edited.');
    await untilProblems([kept, 'tools-changed echo']);
    await saved(of('Typed here.'));
    await untilSaid('Typed here.');
    await untilProblems([kept]);
  });

  it('Fix all applies every safe fix', async () => {
    const broken = original.replace('version: 1\n', '');
    await saved(broken);
    await until(
      problems,
      (all) => all.some(({ code }) => code === 'version-missing'),
      'the problem',
    );
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      'vscode.executeCodeActionProvider',
      uri(),
      new vscode.Range(0, 0, 0, 0),
      vscode.CodeActionKind.SourceFixAll.value,
    );
    await apply(actions, 'Apply all safe fixes');
    assert.equal(await readConfig(), original);
  });

  it('A quick fix writes the intended command (E1)', async () => {
    await saved(original.replace('command: node', 'command: nodee'));
    await until(
      problems,
      (all) => all.some(({ code }) => code === 'command-not-found'),
      'the problem',
    );
    const actions = await actionsFor('command-not-found');
    const [first] = actions.filter(({ title }) => title.startsWith("Change to '"));
    assert.ok(first?.isPreferred, actions.map(({ title }) => title).join(' | '));
    await apply(actions, "Change to 'node'");
    assert.equal(await readConfig(), original);
    await untilProblems([kept]);
  });

  it('A failed server offers restart, log and disable', async () => {
    await saved(
      original.replace('    command: node\n    args', '    command: no-such-command\n    args'),
    );
    await until(
      problems,
      (all) => all.some(({ code }) => code === 'command-not-found'),
      'the problem',
    );
    const actions = await actionsFor('command-not-found');
    const titles = actions.map(({ title }) => title);
    for (const title of ["Show the log of 'alpha'", "Disable 'alpha'"])
      assert.ok(titles.includes(title), titles.join(' | '));
    await apply(actions, "Disable 'alpha'");
    assert.match(
      await readConfig(),
      /^ {2}alpha:\n {4}enabled: false\n {4}transport: stdio # started here\n/m,
    );
    await untilProblems([]);
  });

  it('A server is disabled and enabled in the file, with comments kept (E3)', async () => {
    await vscode.commands.executeCommand('mcpToolsets.disable', 'alpha');
    await untilTools(['mcp_beta_echo', 'mcp_beta_add']);
    assert.equal(
      await readConfig(),
      original.replace('  alpha:\n', '  alpha:\n    enabled: false\n'),
    );
    await vscode.commands.executeCommand('mcpToolsets.enable', 'alpha');
    await untilTools(start);
    assert.equal(
      await readConfig(),
      original.replace('  alpha:\n', '  alpha:\n    enabled: true\n'),
    );
  });

  it('Several concurrent changes of the file are all made and saved', async () => {
    const { document } = await typed(original);
    await saved(original);
    await Promise.all(
      ['alpha', 'beta'].map((server) =>
        vscode.commands.executeCommand('mcpToolsets.disable', server),
      ),
    );
    const both = original.replace(/^ {2}(alpha|beta):\n/gm, '$&    enabled: false\n');
    assert.equal(document.getText(), both);
    assert.equal(document.isDirty, false);
    assert.equal(await readConfig(), both);
    await saved(original);
    await untilTools(start);
  });

  it('“What Agents Read” shows the exact texts of all toolsets beside those of the servers', async () => {
    const override =
      "      override: { echo: { description: 'Says it again.' } }\n      whitelist:";
    await saved(original.replace('      whitelist:', override));
    await until(
      () => vscode.lm.tools.find(({ name }) => name === 'mcp_alpha_echo')?.description,
      (said) => said === 'Says it again.',
      'the description',
    );
    await vscode.commands.executeCommand('mcpToolsets.whatAgentsRead');
    const { input } =
      (await until(
        () => vscode.window.tabGroups.activeTabGroup.activeTab,
        (tab) => tab?.label === 'What Agents Read',
        'the document',
      )) ?? {};
    assert.ok(input instanceof vscode.TabInputTextDiff);
    const [own, now] = await Promise.all(
      [input.original, input.modified].map(async (one) =>
        (await vscode.workspace.openTextDocument(one)).getText(),
      ),
    );
    assert.match(
      now ?? '',
      /alpha_echo {2}· {2}~\d+ tokens\n\n {2}description\n {4}Says it again\./,
    );
    assert.match(own ?? '', /\necho {2}· {2}~\d+ tokens\n\n {2}description\n {4}(?!Says it again)/);
    assert.match(now ?? '', /\nbeta\n[^]*\nmcp_admin\n[^]*mcp_status/);
    await vscode.commands.executeCommand('workbench.action.closeActiveEditor');
  });

  describe('authoring on the screen', () => {
    before(async function () {
      await needsPage(this);
      await vscode.commands.executeCommand('workbench.action.closeSidebar');
    });

    it('The lenses are visible', async () => {
      await page.waitFor('.codelens-decoration >> text=Restart');
      await page.screenshot('lenses');
    });

    it('The completion of keys is visible, with documentation', async () => {
      await typed(original.replace('    tools:\n', '    ¦\n    tools:\n'));
      await vscode.commands.executeCommand('editor.action.triggerSuggest');
      await page.waitFor('.suggest-widget .monaco-list-row');
      await vscode.commands.executeCommand('toggleSuggestionDetails');
      await page.waitFor('.suggest-details .docs');
      await page.screenshot('completion-keys');
      await page.press('Escape');
    });

    it('The completion of tool names is visible', async () => {
      await typed(original.replace("'count*', 'echo'", "'count*', ¦"));
      await vscode.commands.executeCommand('editor.action.triggerSuggest');
      await page.waitFor('.suggest-widget .monaco-list-row >> text=count_up');
      await page.screenshot('completion-tools');
      await page.press('Escape');
    });

    it('The hover of a transform is visible', async () => {
      await typed(original.replace("prefix: 'alpha_'", "prefix: 'al¦pha_'"));
      await vscode.commands.executeCommand('editor.action.showHover');
      await page.waitFor('.monaco-hover table');
      await page.screenshot('hover-transform');
      await page.press('Escape');
    });

    it('The hover of an overridden tool is visible, and the sidebar marks the tool', async () => {
      const override =
        '      override: { echo: { description: Says it again., arguments: { text: { default: hello } } } }\n';
      const text = original.replace('    transform:\n', `${override}    transform:\n`);
      await saved(text);
      await until(
        () => vscode.lm.tools.find(({ name }) => name === 'mcp_alpha_echo')?.description,
        (description) => description === 'Says it again.',
        'the override',
      );
      await typed(text.replace('{ echo:', '{ ec¦ho:'));
      await vscode.commands.executeCommand('editor.action.showHover');
      await page.waitFor('.monaco-hover >> text=Agents read');
      await page.screenshot('hover-override');
      await page.press('Escape');
      await vscode.commands.executeCommand('mcpToolsets.servers.focus');
      const rows = '.part.sidebar .monaco-list-row';
      await page.click(`${rows}[aria-label^="alpha, server"]`);
      await page.waitFor(`${rows}[aria-label*="overridden"]`);
      await page.screenshot('sidebar-override');
      await vscode.commands.executeCommand('workbench.action.closeSidebar');
    });

    it('The hover of a pattern is visible', async () => {
      await typed(original.replace("'count*'", "'cou¦nt*'"));
      await vscode.commands.executeCommand('editor.action.showHover');
      await page.waitFor('.monaco-hover >> text=Matches');
      await page.screenshot('hover-pattern');
      await page.press('Escape');
    });

    it('The quick fixes of a problem are visible', async () => {
      await saved(original.replace('transform:', 'transfrom:'));
      await untilProblems([kept, 'unknown-key transfrom', 'name-taken beta']);
      const editor = await vscode.window.showTextDocument(uri());
      const at = editor.document.positionAt(editor.document.getText().indexOf('transfrom') + 2);
      editor.selection = new vscode.Selection(at, at);
      // A later problem would close the list of quick fixes, so both warnings must be there first.
      await page.waitFor('.squiggly-warning >> nth=1');
      await until(
        async () => {
          const texts = await page.texts('.action-widget');
          // A message of the server may still close the list.
          if (texts.length === 0) await vscode.commands.executeCommand('editor.action.quickFix');
          return texts;
        },
        (texts) => texts.some((text) => text.includes('Rename to')),
        'the list of quick fixes',
      );
      await page.screenshot('quick-fixes');
      await page.press('Escape');
    });
  });
});

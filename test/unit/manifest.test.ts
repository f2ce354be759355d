/** The parts of `package.json` for the editor and the Marketplace are consistent. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript-ast';
import { contributions, withTitles } from '../../build/contributions.js';
import manifestOfKeys from '../../package.json';
import englishTexts from '../../package.nls.json';
import { manifest } from '../support/manifest.js';
import { stateViews } from '../../src/vscode/views/serverStates.js';
import { modules, type Module } from './modules.js';

const root = path.resolve(__dirname, '../..');
const { contributes } = manifest;
const commands = contributes.commands.map(({ command }) => command);
const ours = (text: string): string[] =>
  [...text.matchAll(/command:(mcpToolsets\.[\w.]+)/g)].map(([, name]) => name ?? '');

/** The names in calls of `commands`, and the names of the buttons in reviews. */
function registeredIn({ file, text }: Module): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.expression.getText() === 'commands') {
      const [runs] = node.arguments;
      const properties = runs && ts.isObjectLiteralExpression(runs) ? runs.properties : [];
      for (const { name } of properties)
        if (name && (ts.isIdentifier(name) || ts.isStringLiteral(name))) found.push(name.text);
    }
    if (ts.isStringLiteral(node) && /^\w+Shown$/.test(node.text)) found.push(node.text);
    ts.forEachChild(node, visit);
  };
  if (text.includes('registerReviewAnswers') || text.includes('commands('))
    visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return found;
}

/** Evaluates a condition that joins comparisons of keys with `&&`. */
function holds(condition: string, keys: Readonly<Record<string, unknown>>): boolean {
  return condition.split(' && ').every((part) => {
    const [, not = '', key = '', equals, value] =
      /^(!?)([\w.]+)(?: (==|>) (\w+))?$/.exec(part) ?? [];
    assert.ok(key !== '', `not understood: ${part}`);
    if (key === 'false') return false;
    const found = keys[key];
    if (equals === '==') return found === value;
    return equals === '>' ? Number(found) > Number(value) : (not === '!') !== Boolean(found);
  });
}

describe('manifest', () => {
  describe('the palette', () => {
    const usual = {
      isWorkspaceTrusted: true,
      workspaceFolderCount: 1,
      'mcpToolsets.phase': 'serving',
      'mcpToolsets.hasCalls': true,
    };
    const palette = (keys: Readonly<Record<string, unknown>>): string[] => {
      const conditions = new Map(
        contributes.menus.commandPalette.map(({ command, when }) => [command, when]),
      );
      return contributes.commands
        .filter(({ command }) => holds(conditions.get(command) ?? 'isWorkspaceTrusted', keys))
        .map(({ title }) => title);
    };

    it('has about 20 commands at a usual moment', () => {
      const titles = palette(usual);
      assert.ok(titles.length <= 21, titles.join('\n'));
      for (const title of ['Manage Server…', 'Add Server…', 'Try Tool', 'Filter Calls…'])
        assert.ok(titles.includes(title), title);
    });

    it('has the commands of a moment when that moment has come', () => {
      const more: Record<string, [object, readonly string[]]> = {
        waiting: [
          { 'mcpToolsets.pending': true },
          ['Approve Server…', 'Review Servers Waiting for Approval…'],
        ],
        changed: [{ 'mcpToolsets.changed': true }, ['Accept Changed Tools…']],
        problems: [{ 'mcpToolsets.problems': true }, ['Show Only Servers with Problems']],
        team: [{ 'mcpToolsets.team': true }, ['Write Custom Agents for Team Members']],
        sessions: [{ 'mcpToolsets.agentSessions': true }, ['Renew Token for the Editor']],
        filtered: [{ 'mcpToolsets.callsFiltered': true }, ['Clear Filter of Calls']],
      };
      const before = palette(usual);
      for (const [moment, [keys, titles]] of Object.entries(more)) {
        const now = palette({ ...usual, ...keys }).filter((title) => !before.includes(title));
        assert.deepEqual(now, titles, moment);
      }
      const without = palette({ ...usual, 'mcpToolsets.phase': 'noFile' });
      assert.ok(without.includes('Create Config File') && !without.includes('Manage Server…'));
    });
  });

  it('A row of a server has at most two icons, whatever can be done with it', () => {
    const inline = contributes.menus['view/item/context'].filter(
      ({ group, when }) => group.startsWith('inline') && when.includes('mcpToolsets.servers'),
    );
    const some = (...all: string[]): string[] => ['', all[0] ?? '', all[1] ?? '', all.join(' ')];
    const rows = Object.entries(stateViews).flatMap(([state, { actions }]) =>
      some('approvable', 'revocable').flatMap((approval) =>
        some('signInable', 'signOutable').map((signIn) =>
          ['server', ...actions, approval, signIn, state, 'changed secret enabled'].join(' '),
        ),
      ),
    );
    for (const row of rows) {
      const icons = inline.filter(({ when }) => {
        const [, pattern = '(?!)'] = /viewItem =~ \/(.*)\/$/.exec(when) ?? [];
        return new RegExp(pattern).test(row);
      });
      assert.ok(icons.length <= 2, `${row}: ${icons.map(({ command }) => command).join(', ')}`);
    }
  });

  it('package.json has the commands and menus of their table', () => {
    const { commands: listed, menus, submenus, keybindings } = manifestOfKeys.contributes;
    assert.deepEqual(
      { commands: listed, menus, submenus, keybindings },
      contributions,
      'run: npm run contributions',
    );
    assert.deepEqual(englishTexts, withTitles(englishTexts), 'run: npm run contributions');
  });

  it('The extension registers each command of the table once', () => {
    const registered = modules
      .filter(({ file }) => file.startsWith('src/vscode/'))
      .flatMap((module) => [...new Set(registeredIn(module))]);
    assert.equal(new Set(registered).size, registered.length, registered.sort().join(' '));
    const missing = commands.filter((id) => !registered.includes(id.replace('mcpToolsets.', '')));
    assert.deepEqual(missing, []);
  });

  it('The manifest names every command with a category and a condition', () => {
    for (const { command, title, category } of contributes.commands) {
      assert.match(title, /^(?:✓ )?[A-Z]/, command);
      assert.equal(category, 'MCP Toolsets', command);
    }
    const always = [
      'openDocumentation',
      'openWalkthrough',
      'openSettings',
      'showLog',
      'copyDiagnostics',
    ].map((name) => `mcpToolsets.${name}`);
    const hidden = new Map(
      contributes.menus.commandPalette.map(({ command, when }) => [command, when]),
    );
    for (const command of commands.filter((name) => !always.includes(name))) {
      assert.ok(hidden.get(command), `${command} is in the palette of every window`);
    }
  });

  it('The manifest has no menu, link or step for a missing command', () => {
    const inMenus = Object.values(contributes.menus).flatMap((menu) =>
      menu.flatMap((entry) => ('command' in entry ? entry.command : [])),
    );
    const texts = [
      ...contributes.viewsWelcome.map(({ contents }) => contents),
      JSON.stringify(contributes.walkthroughs),
    ];
    for (const command of [...inMenus, ...texts.flatMap(ours)]) {
      assert.ok(commands.includes(command) || command === 'mcpToolsets.servers.focus', command);
    }
  });

  it('The manifest describes every setting and its scope', () => {
    for (const [name, setting] of Object.entries(contributes.configuration.properties)) {
      const { scope, order } = setting as { scope?: string; order?: number };
      const text =
        (setting as { markdownDescription?: string; description?: string }).markdownDescription ??
        (setting as { description?: string }).description;
      assert.ok(scope && order && text?.endsWith('.'), name);
    }
  });

  it('No workspace and no dev container may set an option that weakens safety or costs the person (S1, S4)', () => {
    /**
     * All other settings have the scope of the application. Machine scope would let a dev container
     * answer.
     */
    const ofWorkspaces: Record<string, string> = {
      'mcpToolsets.toolPermissions':
        'The strictest of all places counts, so a workspace can only forbid.',
      'mcpToolsets.problems.filteredTools': 'It changes how the Problems view looks.',
      'mcpToolsets.endpoint.port':
        'Two windows cannot have one port. A port from the workspace counts only after the person chose it there.',
    };
    const settings = Object.entries(contributes.configuration.properties) as [
      string,
      { scope: string },
    ][];
    assert.deepEqual(
      settings.filter(([, { scope }]) => scope !== 'application').map(([name]) => name),
      Object.keys(ofWorkspaces),
    );
  });

  it('An outside link opens nothing, and no default of other extensions’ settings starts anything', () => {
    assert.ok(!('uriHandlers' in contributes) && !manifest.activationEvents.includes('onUri'));
    assert.deepEqual(Object.keys(contributes.configurationDefaults), [
      'workbench.editorAssociations',
      '[mcp-toolsets-review]',
    ]);
  });

  it('The editor wraps texts that a person reads before consent, at any width (S1f)', () => {
    const { languages, configurationDefaults: defaults } = contributes;
    assert.deepEqual(defaults['[mcp-toolsets-review]'], {
      'editor.wordWrap': 'on',
      'editor.wrappingIndent': 'deepIndent',
      'diffEditor.wordWrap': 'on',
      // They leave the width for the text, which is folded already.
      'editor.minimap.enabled': false,
      'editor.lineNumbers': 'off',
      'editor.glyphMargin': false,
      'editor.folding': false,
    });
    assert.ok(languages.some(({ id }) => id === 'mcp-toolsets-review'));
  });

  it('The manifest has the entries for the marketplaces: a sentence, an icon, categories, keywords and a licence', () => {
    assert.ok(manifest.description.length <= 200, 'the Marketplace cuts longer descriptions');
    assert.match(manifest.description, /^[A-Z].+\.$/);
    const known = ['AI', 'Chat', 'Machine Learning', 'Other'];
    assert.ok(
      manifest.categories.length > 0 && manifest.categories.every((one) => known.includes(one)),
    );
    assert.ok(manifest.keywords.length <= 30, 'the Marketplace takes no more');
    assert.equal(new Set(manifest.keywords).size, manifest.keywords.length);
    assert.match(
      readFileSync(path.join(root, 'LICENSE'), 'utf8'),
      new RegExp(`^${manifest.license} `),
    );
    const icon = readFileSync(path.join(root, manifest.icon));
    assert.equal(icon.toString('latin1', 1, 4), 'PNG');
    assert.ok(icon.readUInt32BE(16) >= 128 && icon.readUInt32BE(20) >= 128);
  });

  it('The pictures and pages named in the manifest exist and are small', () => {
    const named = contributes.walkthroughs.flatMap(({ steps }) =>
      steps.flatMap(({ media }) =>
        'image' in media ? Object.values(media.image) : [media.markdown],
      ),
    );
    const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
    const inReadme = [...readme.matchAll(/\]\((media\/[^)]+\.png)\)/g)].map(
      ([, file]) => file ?? '',
    );
    const files = [...new Set([...named, ...inReadme, manifest.icon])];
    for (const file of files) assert.ok(existsSync(path.join(root, file)), file);
    const bytes = files.reduce((sum, file) => sum + statSync(path.join(root, file)).size, 0);
    assert.ok(bytes < 1_000_000, `${bytes} bytes of pictures`);
  });
});

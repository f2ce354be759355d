/**
 * The text of *Copy Diagnostics* (E4). It is redacted by parts, because a mask could cover the end
 * of a fence. Pure.
 */
import { fenced } from '../../core/base/inert.js';
import { redactedConfig } from '../../core/config/edit/redactedConfig.js';
import type { ServerStatus } from '../../core/reconcile/status.js';
import type { WindowState } from '../engine/engineSlot.js';
import { present, toolCount, transportWord } from '../views/phrases.js';
import { stateWord } from '../views/serverStates.js';

export interface BugReportFacts extends WindowState {
  readonly versions: readonly (readonly [name: string, value: string])[];
  readonly settings: readonly (readonly [name: string, value: unknown])[];
  readonly sources: readonly { readonly file: string; readonly text: string | undefined }[];
  readonly logs: readonly { readonly name: string; readonly lines: readonly string[] }[];
  readonly redact: (text: string) => string;
  readonly home: string;
  readonly fileLabel: (file: string) => string;
}

export function bugReport(facts: BugReportFacts): string {
  const { snapshot, redact } = facts;
  const fileLabel = (file: string): string => redact(facts.fileLabel(file));
  const section = (title: string, lines: readonly string[]): string =>
    sectionOf(title, lines.map(redact));
  const block = (text: string, language?: string): string => fenced(redact(text), language).value;
  const versions = facts.versions.map(([name, value]) => `- ${name}: ${value}`);
  const settings = facts.settings.map(([name, value]) => `- ${name}: ${JSON.stringify(value)}`);
  const problems = snapshot.problems.map(
    ({ code, severity, place, message }) =>
      `- ${severity} \`${code}\` ${fileLabel(place.file)}:${place.range.start.line + 1}: ${oneLine(message)}`,
  );
  const sections = [
    section('Versions', versions),
    section('Settings', settings),
    ...facts.sources.map(({ file, text }) =>
      sectionOf(`\`${fileLabel(file)}\``, [configOf(text, block)]),
    ),
    section('Servers', [
      `Phase ${facts.phase}, registry version ${snapshot.version}`,
      ...snapshot.servers.map(serverLine),
    ]),
    section('Problems', problems),
    ...facts.logs
      .filter(({ lines }) => lines.length > 0)
      .map(({ name, lines }) => sectionOf(`Log: ${redact(name)}`, [block(lines.join('\n'))])),
  ];
  const text = `# MCP Toolsets: diagnostics\n\n${sections.join('\n')}`;
  // Paths in the home folder contain the name of the person.
  return facts.home.length > 1 ? text.replaceAll(facts.home, '~') : text;
}

function sectionOf(title: string, lines: readonly string[]): string {
  return `## ${title}\n\n${lines.length === 0 ? '(none)' : lines.join('\n')}\n`;
}

function configOf(
  text: string | undefined,
  block: (text: string, language: string) => string,
): string {
  if (text === undefined) return '(no such file)';
  const redacted = redactedConfig(text);
  return redacted === undefined
    ? `(not readable as YAML; ${text.split('\n').length} lines)`
    : block(redacted, 'json');
}

function serverLine(server: ServerStatus): string {
  const { id, state, transport, tools, offered, instances, previous, serverInfo } = server;
  const facts = [
    stateWord(state),
    state.kind === 'failed' && oneLine(state.reason),
    transport && transportWord(transport),
    toolCount(tools.length, offered),
    `${instances.length} instances`,
    previous && `previous definition: ${oneLine(previous.reason)}`,
    serverInfo && `${serverInfo.name} ${serverInfo.version}`,
  ];
  return `- ${id}: ${present(facts).join(' · ')}`;
}

function oneLine(text: string): string {
  return text.replace(/(?<!\s)\s*\n\s*/g, ' ');
}

/** Config models and problems as stable text for golden files. Places are one-based. */
import { plainOverrides } from '../../../src/core/config/hash.js';
import { textsOf } from '../../../src/core/config/launchValues.js';
import type { Problem, Range } from '../../../src/core/base/problem.js';
import type {
  ConfiguredServer,
  Value,
  NameFilter,
  ParsedSource,
  Reference,
  ServerDefinition,
  Transform,
} from '../../../src/core/config/model.js';
import { posixPath } from '../../support/places.js';

export function renderSource(parsed: ParsedSource, text: string): string {
  const head =
    parsed.kind === 'refused' ? ['refused'] : ['accepted', ...parsed.servers.flatMap(renderServer)];
  const problems = parsed.problems.flatMap((problem) => ['', ...renderProblem(problem, text)]);
  return [...head, ...problems, ''].join('\n');
}

function renderServer(server: ConfiguredServer): string[] {
  if (server.kind === 'invalid')
    return ['', `server ${server.id} ${renderRange(server.places.key.range)} invalid`];
  const { definition } = server;
  return [
    '',
    `server ${server.id} ${renderRange(definition.places.key.range)}`,
    ...renderDefinition(definition).map((line) => `  ${line}`),
  ];
}

function renderDefinition(definition: ServerDefinition): string[] {
  const { launch, timeouts, spare } = definition;
  const start = definition.start ? `, start: ${definition.start}` : '';
  const starts = spare === undefined ? start : `${start}, spare: ${spare}`;
  const lines = [
    `enabled: ${definition.enabled}, truely-stateless: ${definition.trulyStateless}${starts}`,
  ];
  lines.push(`transport: ${launch.transport}`);
  if (launch.transport === 'stdio') {
    lines.push(
      `command: ${JSON.stringify(launch.command)} ${JSON.stringify(textsOf(launch.args))} in ${posixPath(launch.cwd)}`,
    );
    for (const [index, value] of launch.args.entries())
      if (value.kind === 'reference') lines.push(`argument ${index + 1}${renderReference(value)}`);
    if (launch.envFile) {
      lines.push(`env file ${posixPath(launch.envFile.file)}`);
      for (const [name, value] of launch.envFile.values)
        lines.push(`  ${name}: ${JSON.stringify(value)}`);
    }
    lines.push(...renderValues('env', launch.env));
  } else {
    lines.push(`url: ${launch.url.value}, sessionId: ${JSON.stringify(launch.sessionId)}`);
    if (launch.url.kind === 'reference') lines.push(`url${renderReference(launch.url)}`);
    lines.push(...renderValues('header', launch.headers));
    if (launch.oauth) lines.push(`oauth: ${JSON.stringify(launch.oauth)}`);
  }
  lines.push(
    ...renderFilter('tools', definition.tools),
    ...renderTransform('tools', definition.transform),
  );
  if (definition.overrides)
    lines.push(`overrides: ${JSON.stringify(plainOverrides(definition.overrides))}`);
  lines.push(...renderFilter('prompts', definition.prompts.filter));
  lines.push(...renderTransform('prompts', definition.prompts.transform));
  lines.push(...renderFilter('resources', definition.resources));
  const { mimeTypes, maxBytes } = definition.resources;
  if (mimeTypes || maxBytes)
    lines.push(
      `resources of ${mimeTypes?.join() ?? 'any type'}, at most ${maxBytes ?? 'any'} bytes`,
    );
  if (definition.manual !== undefined) lines.push(`manual: ${JSON.stringify(definition.manual)}`);
  lines.push(`timeouts: ${timeouts.connect} ${timeouts.call} ${timeouts.callMax} ${timeouts.idle}`);
  return lines;
}

function renderValues(kind: string, values: ReadonlyMap<string, Value>): string[] {
  return [...values].map(([name, value]) => {
    return `${kind} ${name}: ${JSON.stringify(value.value)}${value.kind === 'reference' ? renderReference(value) : ''}`;
  });
}

function renderReference({ source, prefix, suffix, fallback }: Reference): string {
  const more = [
    ...(suffix === '' ? [] : [`and ${JSON.stringify(suffix)}`]),
    ...(fallback === undefined ? [] : [`or ${fallback}`]),
  ];
  return [
    ` from ${source.kind === 'secret' ? 'the secret ' : ''}${source.kind === 'command' ? source.argv.join(' ') : source.name} with ${JSON.stringify(prefix)}`,
    ...more,
  ].join(' ');
}

function renderFilter(kind: string, filter: NameFilter): string[] {
  if (filter.whitelist.length + filter.blacklist.length === 0) return [];
  return [
    `${kind}: whitelist ${JSON.stringify(filter.whitelist)} blacklist ${JSON.stringify(filter.blacklist)}`,
  ];
}

function renderTransform(kind: string, steps: readonly Transform[]): string[] {
  return steps.length === 0 ? [] : [`${kind} transform: ${JSON.stringify(steps)}`];
}

export function renderProblem(problem: Problem, text: string): string[] {
  const owner = problem.server === undefined ? '' : ` [${problem.server}]`;
  return [
    `${problem.severity} ${problem.code} ${renderRange(problem.place.range)}${owner}`,
    `  at: ${JSON.stringify(textIn(text, problem.place.range))}`,
    // Paths in a text keep their drive on Windows.
    `  ${process.platform === 'win32' ? problem.message.replace(/`[A-Z]:[^`]*`/g, posixPath) : problem.message}`,
    `  fix: ${problem.fix}`,
    ...(problem.related ?? []).map(
      ({ message, place }) => `  related ${renderRange(place.range)}: ${message}`,
    ),
  ];
}

function renderRange({ start, end }: Range): string {
  return `${start.line + 1}:${start.character + 1}-${end.line + 1}:${end.character + 1}`;
}

/** The text at a range in an editor: without the byte order mark, with lines by LF, CRLF and CR. */
export function textIn(text: string, { start, end }: Range): string {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/);
  const shown = lines.slice(start.line, end.line + 1);
  const last = shown.length - 1;
  return shown
    .map((line, index) =>
      line.slice(index === 0 ? start.character : 0, index === last ? end.character : undefined),
    )
    .join('\n');
}

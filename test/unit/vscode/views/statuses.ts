/** Status snapshots for tests of views. */
import { startOfFile } from '../../../../src/core/config/model.js';
import type { Problem } from '../../../../src/core/base/problem.js';
import type { ServerStatus, StatusSnapshot } from '../../../../src/core/reconcile/status.js';
import {
  noResources,
  type ServedTool,
  type Toolset,
} from '../../../../src/core/tools/catalogue.js';
import type { TreeOptions } from '../../../../src/vscode/views/rows/treeNode.js';
import { toolsAlone } from '../../../../src/core/tools/features.js';

export const file = '/folder/.minds/mcp.yaml';

type Options = { original?: string; editorId?: string } & Pick<
  ServedTool,
  'editorRefuses' | 'isAsked'
>;

export function servedTool(published: string, options: Options = {}): ServedTool {
  const original = options.original ?? published;
  const editorId = options.editorId ?? `mcp_demo_${published}`;
  return {
    original,
    published,
    editorName: published,
    editorId,
    ...(options.editorRefuses && { editorRefuses: options.editorRefuses }),
    ...(options.isAsked && { isAsked: true }),
    tool: { name: original, inputSchema: { type: 'object' } },
  };
}

export function toolset(id: string, ...names: string[]): Toolset {
  return {
    id,
    shortName: id,
    tools: names.map((name) => servedTool(name, { editorId: `mcp_${id}_${name}` })),
    excluded: [],
    prompts: [],
    resources: noResources,
    features: toolsAlone,
    instructions: undefined,
    leased: true,
  };
}

export function status(id: string, changes: Partial<ServerStatus> = {}): ServerStatus {
  return {
    id,
    toLock: () => undefined,
    source: file,
    origin: 'folder',
    shadows: [],
    place: { file, range: startOfFile },
    local: [],
    localPlace: undefined,
    siftedForMe: () => new Set(),
    transport: 'stdio',
    isOfThisMachine: true,
    trulyStateless: false,
    state: { kind: 'running', since: 0 },
    approval: { kind: 'notAsked' },
    previous: undefined,
    waits: false,
    serverInfo: undefined,
    tools: [],
    excluded: [],
    placeOf: () => undefined,
    changedOffers: [],
    prompts: [],
    resources: noResources,
    offered: 0,
    savedTokens: 0,
    listed: [],
    hasSecrets: false,
    countedAs: '',
    isPublished: true,
    instances: [],
    ...changes,
  };
}

/** The options for rows without titles of conversations. */
export const treeOptions: TreeOptions = {
  now: 0,
  isAllowed: () => false,
  fileLabel: (path) => path.replace('/folder/', ''),
  folderLabel: (path) => path.split('/')[1] ?? '',
  titleOf: () => undefined,
};

export function snapshot(
  servers: readonly ServerStatus[],
  changes: Partial<StatusSnapshot> = {},
): StatusSnapshot {
  return { version: 1, refused: [], servers, problems: [], ...changes };
}

export function problem(changes: Partial<Problem> = {}): Problem {
  return {
    code: 'env-unset',
    severity: 'error',
    message: 'The variable is not set.',
    fix: 'Set it.',
    place: { file, range: { start: { line: 3, character: 2 }, end: { line: 3, character: 7 } } },
    ...changes,
  };
}

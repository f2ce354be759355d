/**
 * User settings of every editor under test: nothing that opens by itself, nothing that calls out, nothing that moves,
 * because what moves is painted sixty times a second by the processor that the tests wait for, and no search for ports,
 * because the extension host starts processes for it all the time.
 */
const defaultSettings: Readonly<Record<string, unknown>> = {
  'editor.cursorBlinking': 'solid',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'git.enabled': false,
  'mcpToolsets.approval': 'trustedWorkspace',
  'remote.autoForwardPorts': false,
  'remote.autoForwardPortsSource': 'output',
  'security.workspace.trust.banner': 'never',
  'security.workspace.trust.startupPrompt': 'never',
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'workbench.enableExperiments': false,
  'workbench.reduceMotion': 'on',
  'workbench.settings.enableNaturalLanguageSearch': false,
  'workbench.startupEditor': 'none',
};

/** For editors in which the agent is asked: no questions back, no other model wanted. */
const agentModeSettings: Readonly<Record<string, unknown>> = {
  'chat.byokUtilityModelDefault': 'mainAgent',
  'chat.tools.global.autoApprove': true,
  'chat.tools.riskAssessment.enabled': false,
};

/**
 * For editors that are not as a person has them: the chat opens where a test opens it. By itself it opens with every window,
 * and takes a tenth of its processor time.
 */
const leanSettings: Readonly<Record<string, unknown>> = { 'workbench.secondarySideBar.defaultVisibility': 'hidden' };

/** Everything that stands in the user settings. */
export function userSettings(options: {
  agentMode?: boolean;
  allExtensions?: boolean;
  settings?: Record<string, unknown>;
}): Record<string, unknown> {
  return {
    ...defaultSettings,
    ...(!options.allExtensions && leanSettings),
    ...(options.agentMode && agentModeSettings),
    ...options.settings,
  };
}

/**
 * User settings of every editor under test. No view opens uninvited, and no request leaves the
 * machine. Animations are off, because the processor of the tests would paint them sixty times a
 * second. The search for ports is off, because the extension host starts processes for it all the
 * time.
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

/** For editors whose agent is asked: no questions back, no other model. */
const agentModeSettings: Readonly<Record<string, unknown>> = {
  'chat.byokUtilityModelDefault': 'mainAgent',
  'chat.tools.global.autoApprove': true,
  'chat.tools.riskAssessment.enabled': false,
};

/**
 * For editors unlike a person's: the chat stays closed until a test opens it. Otherwise it opens
 * with every window and takes a tenth of its processor time.
 */
const leanSettings: Readonly<Record<string, unknown>> = {
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
};

/** All user settings. */
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

/** User settings of every editor under test: nothing that opens by itself, nothing that calls out. */
export const defaultSettings: Readonly<Record<string, unknown>> = {
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'git.enabled': false,
  'mcpToolsets.approval': 'trustedWorkspace',
  'security.workspace.trust.banner': 'never',
  'security.workspace.trust.startupPrompt': 'never',
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'workbench.enableExperiments': false,
  'workbench.settings.enableNaturalLanguageSearch': false,
  'workbench.startupEditor': 'none',
};

/** For editors in which the agent is asked: no questions back, no other model wanted. */
export const agentModeSettings: Readonly<Record<string, unknown>> = {
  'chat.byokUtilityModelDefault': 'mainAgent',
  'chat.tools.global.autoApprove': true,
  'chat.tools.riskAssessment.enabled': false,
};

/**
 * Seconds on a machine with two processors, beside three other lanes. They decide the order of the
 * lanes and the division of windows between them, and nothing else, so they are rough.
 */

/** A lane without an entry takes a few seconds and comes last. */
export const laneSeconds: Readonly<Record<string, number>> = {
  'editor inside 1/2': 420,
  'editor outside': 350,
  'adversarial 1/2': 330,
  'adversarial 2/2': 310,
  'editor inside 2/2': 420,
  'integration cli 1/2': 180,
  'integration cli 2/2': 180,
  bench: 170,
  'integration core 1/2': 140,
  'integration core 2/2': 130,
  unit: 115,
  'integration suite': 110,
  'integration conformance': 100,
  'integration stress': 95,
  'integration connections 1/2': 85,
  'integration connections 2/2': 65,
  'integration gateway': 65,
  'integration package': 45,
  'integration servers': 30,
};

/** Suites inside an editor, one after another. Others take some 20 s. */
export const suiteSeconds: Readonly<Record<string, number>> = {
  agent: 80,
  agents: 60,
  appPanel: 90,
  apps: 50,
  approval: 60,
  authoring: 80,
  calls: 70,
  example: 40,
  exampleApps: 105,
  import: 60,
  minds: 310,
  mindsQuestions: 40,
  protocol: 75,
  results: 60,
  sidebar: 100,
  sources: 30,
  team: 70,
  teams: 40,
  tryTool: 185,
};

/** The start and end of a window. */
export const windowSeconds = 20;

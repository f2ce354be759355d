import assert from 'node:assert/strict';
import { childEnvironment } from '../../../../src/vscode/engine/childEnvironment.js';

describe('childEnvironment', () => {
  it('leaves out variables of the editor’s own processes', () => {
    const own = {
      ELECTRON_RUN_AS_NODE: '1',
      VSCODE_IPC_HOOK: '/run/x.sock',
      VSCODE_ESM_ENTRYPOINT: 'vs/workbench/api/node/extensionHostProcess',
      VSCODE_NLS_CONFIG: '{}',
      VSCODE_INSPECTOR_OPTIONS: '{}',
      VSCODE_PID: '1',
      SNAP: '/snap/code/1',
      SNAP_NAME: 'code',
      GDK_PIXBUF_MODULEDIR: '/snap/x',
    };
    assert.deepEqual(childEnvironment(own), {});
  });

  it('keeps variables of the person and of the editor’s terminals', () => {
    const kept = {
      PATH: '/usr/bin',
      HOME: '/home/a',
      NODE_OPTIONS: '--max-old-space-size=4096',
      SNAPPY: 'yes',
      MY_VSCODE_TOKEN: 'x',
      VSCODE_PORTABLE: '/opt/data',
      EMPTY: '',
    };
    assert.deepEqual(childEnvironment(kept), kept);
  });

  it('does not change its argument', () => {
    const given = Object.freeze({ VSCODE_PID: '1', A: 'b' });
    assert.deepEqual(childEnvironment(given), { A: 'b' });
  });
});

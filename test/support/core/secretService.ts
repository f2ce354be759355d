/**
 * A real Secret Service on a separate bus, so that the tester's keyring stays untouched. Its keyring
 * is unlocked. The program that asks a person to unlock it never answers.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { CommandLine } from './commandLine.js';
import { within } from './within.js';

export const secretServiceMissing = {
  here:
    process.platform !== 'linux' ||
    !['dbus-run-session', 'dbus-send', 'gnome-keyring-daemon'].every(
      (name) => spawnSync(name, ['--version']).error === undefined,
    ),
  reason: 'dbus-run-session, dbus-send and gnome-keyring-daemon are not installed',
} as const;

const session = `
  printf unlock | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1
  echo "$DBUS_SESSION_BUS_ADDRESS"
  read -r _`;

export class SecretService {
  private constructor(
    private readonly cli: CommandLine,
    private readonly child: ChildProcess,
    private readonly asker: string,
  ) {}

  /** The command line uses it from now on. */
  static async open(cli: CommandLine): Promise<SecretService> {
    const services = path.join(cli.folder, 'services');
    const asker = path.join(cli.folder, 'asker.pid');
    mkdirSync(services);
    mkdirSync(cli.home, { recursive: true });
    writeFileSync(`${asker}.sh`, `#!/bin/sh\necho $$ > '${asker}'\nexec sleep 600\n`, {
      mode: 0o755,
    });
    const name = 'org.gnome.keyring.SystemPrompter';
    writeFileSync(
      path.join(services, `${name}.service`),
      `[D-BUS Service]\nName=${name}\nExec=${asker}.sh\n`,
    );
    const config = path.join(cli.folder, 'bus.conf');
    writeFileSync(
      config,
      `<busconfig><type>session</type><listen>unix:tmpdir=${cli.home}</listen>
      <servicedir>${services}</servicedir>
      <policy context="default"><allow send_destination="*" eavesdrop="true"/>
      <allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`,
    );
    const child = spawn('dbus-run-session', ['--config-file', config, '--', 'sh', '-c', session], {
      env: { ...cli.env, XDG_RUNTIME_DIR: cli.home, DBUS_SESSION_BUS_ADDRESS: undefined },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const lines = createInterface(child.stdout);
    const [address] = (await within(once(lines, 'line'), 'the bus')) as [string];
    lines.close();
    cli.env['DBUS_SESSION_BUS_ADDRESS'] = address;
    return new SecretService(cli, child, asker);
  }

  /** From now on, reading asks the person. */
  lock(): void {
    const words = `--session --print-reply --dest=org.freedesktop.secrets /org/freedesktop/secrets
      org.freedesktop.Secret.Service.Lock array:objpath:/org/freedesktop/secrets/collection/login`;
    const { status, stderr } = spawnSync('dbus-send', words.split(/\s+/), { env: this.cli.env });
    if (status !== 0) throw new Error(String(stderr));
  }

  /** True if the keyring has asked the person. */
  get hasAsked(): boolean {
    return existsSync(this.asker);
  }

  async close(): Promise<void> {
    if (this.hasAsked) process.kill(Number(readFileSync(this.asker, 'utf8')));
    const ended = once(this.child, 'close');
    this.child.stdin?.end();
    await within(ended, 'the end of the bus');
    // It outlives its bus.
    for (const { pid, command } of this.cli.processes())
      if (command.startsWith('gnome-keyring-daemon')) process.kill(pid);
  }
}

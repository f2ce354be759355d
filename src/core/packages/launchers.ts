/**
 * The table of programs that fetch a package or an image and run it (C8). Only options in it are
 * read: behind an unknown one, the next word may be its value or the package. Sources: `npx-cli.js`
 * and `libnpmexec` of npm, and the command references of pnpm, Yarn, Bun, uv, pipx, Docker, Podman.
 */

type LauncherName =
  | 'npx'
  | 'npm exec'
  | 'pnpm dlx'
  | 'yarn dlx'
  | 'bunx'
  | 'uvx'
  | 'uv tool run'
  | 'pipx run'
  | 'docker run'
  | 'podman run';

export interface Launcher {
  readonly name: LauncherName;
  /** The program and its words for this, such as `npm exec`. */
  readonly spelt: readonly string[];
  readonly names: 'npm' | 'pep508' | 'image';
  /** The options without a value. */
  readonly flags: ReadonlySet<string>;
  /** The options that take the next word. */
  readonly valued: ReadonlySet<string>;
  /** The options that name the package. */
  readonly naming: ReadonlySet<string>;
  /** The options that name another folder in which it runs or reads its files. */
  readonly folders: ReadonlySet<string>;
  /** The options that name a file with settings. */
  readonly fileOptions: ReadonlySet<string>;
  /** The names of files in the folder or above that decide what it runs (S1o). */
  readonly files: readonly string[];
  /** The keys of `package.json` that decide what it runs. */
  readonly manifestKeys: readonly string[];
  /** True if a package of the project with the same name runs in place of the registry's. */
  readonly isLocalFirst: boolean;
  /** True if Python modules of the folder run in place of its own. */
  readonly readsModules: boolean;
  /** The places in the folder or above whose programs run in place of others, if they are there. */
  readonly localPrograms: readonly string[];
}

type Row = Pick<Launcher, 'name' | 'spelt' | 'names'> &
  Readonly<Record<'flags' | 'valued', string>> &
  Partial<
    Readonly<
      Record<
        'naming' | 'folders' | 'fileOptions' | 'files' | 'manifestKeys' | 'localPrograms',
        string
      >
    > &
      Pick<Launcher, 'isLocalFirst' | 'readsModules'>
  >;

function row(given: Row): Launcher {
  const { flags, valued, naming, folders = '', fileOptions = '' } = given;
  return {
    name: given.name,
    spelt: given.spelt,
    names: given.names,
    flags: new Set(words(flags)),
    valued: new Set(words(`${valued} ${folders} ${fileOptions}`)),
    naming: new Set(words(naming)),
    folders: new Set(words(folders)),
    fileOptions: new Set(words(fileOptions)),
    files: words(given.files),
    manifestKeys: words(given.manifestKeys),
    localPrograms: words(given.localPrograms),
    isLocalFirst: given.isLocalFirst ?? false,
    readsModules: given.readsModules ?? false,
  };
}

function words(text = ''): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

/**
 * Managers of versions put a program of this name in front of the real one. It reads these files in
 * the folder and above (`mise.jdx.dev/configuration.html`, `asdf-vm.com/manage/configuration.html`).
 */
const ofManagers = `.tool-versions mise.toml .mise.toml mise.local.toml
    .mise.local.toml mise/config.toml .mise/config.toml
    .config/mise.toml .config/mise/config.toml`;

/** Their `PATH` begins with this folder, and a package of npm starts by `env node`. */
const nodes = `node_modules/.bin/node
    node_modules/.bin/node.exe
    node_modules/.bin/node.cmd`;

/** `npm help config`; a cache or a registry in `.npmrc` decides like a version does. */
const npm = {
  names: 'npm',
  flags: `-y --yes --no -q --quiet -s --silent -d -dd -ddd --verbose
    --no-install --ignore-existing --prefer-offline
    --prefer-online --offline --ignore-scripts --no-audit
    --no-fund --no-update-notifier --no-progress --no-color
    --force -f --color`,
  valued: `-c --call --cache --registry --loglevel
    --script-shell --node-options --shell -w --workspace
    --min-release-age`,
  naming: '-p --package',
  folders: '--prefix -C',
  fileOptions: '--userconfig --globalconfig',
  files: `.npmrc .node-version ${ofManagers}`,
  // Volta's `npx` reads it (`docs.volta.sh/guide/understanding`).
  manifestKeys: 'volta',
  isLocalFirst: true,
  localPrograms: `node_modules/.bin/{program}
    node_modules/.bin/sh
    ${nodes}`,
} as const;

/** `pnpm.io/cli/dlx`, `pnpm.io/settings`, `pnpm.io/pnpmfile`. */
const pnpm = {
  names: 'npm',
  flags: '-s --silent -c --shell-mode --offline --prefer-offline --color --no-color --yes -y',
  valued: '--reporter --loglevel --registry --store-dir --allow-build --config --cpu --os --libc',
  naming: '--package',
  folders: '-C --dir',
  files: `.npmrc pnpm-workspace.yaml .pnpmfile.cjs .pnpmfile.mjs .node-version ${ofManagers}`,
  manifestKeys: 'packageManager devEngines pnpm volta',
  localPrograms: nodes,
} as const;

/**
 * `bun.sh/docs/pm/bunx`, `bun.sh/docs/runtime/bunfig`, `bun.sh/docs/pm/npmrc`,
 * `bun.sh/docs/runtime/env`: a variable of a `.env` file may name the registry.
 */
const bun = {
  names: 'npm',
  flags: '-b --bun --verbose --silent --no-install -y --yes',
  valued: '',
  naming: '-p --package',
  folders: '--cwd',
  fileOptions: '-c --config --env-file',
  files: `bunfig.toml .npmrc .env .env.local .env.development
    .env.development.local .env.production .env.production.local
    .env.test .env.test.local .node-version ${ofManagers}`,
  isLocalFirst: true,
  localPrograms: `node_modules/.bin/{program}
    ${nodes}`,
} as const;

/**
 * `docs.astral.sh/uv/reference/cli/#uv-tool-run`. By its documentation, uv reads no `uv.toml` of the
 * folder for tools; older versions and `--project` do.
 */
const uv = {
  names: 'pep508',
  flags: `--isolated --no-env-file --no-index -U --upgrade --reinstall
    --compile-bytecode --pre --no-sources --no-build-isolation
    --no-build --no-binary -n --no-cache --no-cache-dir
    --refresh --managed-python --no-managed-python --offline
    --no-progress -q --quiet -qq -v --verbose --no-config
    --native-tls --no-python-downloads`,
  valued: `-w --with --with-editable -p --python -i
    --index-url --index --default-index --extra-index-url -f
    --find-links --index-strategy --keyring-provider -P
    --upgrade-package --resolution --prerelease --env-file
    --config-setting --exclude-newer
    --link-mode --no-build-package --no-binary-package
    --refresh-package --cache-dir --allow-insecure-host --color
    --python-platform --python-preference`,
  naming: '--from',
  folders: '--directory --project',
  fileOptions: `--config-file --with-requirements -c --constraints -b
    --build-constraints --overrides`,
  files: `uv.toml pyproject.toml .python-version .python-versions ${ofManagers}`,
} as const;

/** The command references of Docker and Podman; both read nothing in the folder. */
const container = {
  names: 'image',
  flags: `--rm -d --detach -i --interactive -t --tty -P --publish-all -q
    --quiet --init --read-only --privileged --no-healthcheck
    --sig-proxy --replace --tls-verify --http-proxy --no-hosts`,
  valued: `--add-host --annotation -a --attach --cap-add --cap-drop -c
    --cpu-shares --cpus --cpuset-cpus --device --dns --dns-opt
    --dns-option --dns-search --domainname --entrypoint -e --env
    --env-file --gpus --group-add -h --hostname --ip --ip6 --ipc
    -l --label --label-file --link --log-driver --log-opt
    --mac-address -m --memory --memory-reservation --memory-swap
    --mount --name --network --net --network-alias --net-alias
    --pid --pids-limit --platform -p --publish --pull --restart
    --runtime --security-opt --shm-size --stop-signal
    --stop-timeout --sysctl --tmpfs --ulimit -u --user --userns
    --uts -v --volume --volumes-from -w --workdir --arch
    --authfile --os --pod --secret --systemd --timeout`,
} as const;

/** The options of a program before its words, such as `docker --context x run`. */
export const leading: Readonly<
  Record<string, Readonly<Record<'flags' | 'valued', readonly string[]>>>
> = {
  docker: {
    flags: ['-D', '--debug', '--tls', '--tlsverify'],
    valued: words('-c --context --config -H --host -l --log-level --tlscacert --tlscert --tlskey'),
  },
  podman: {
    flags: ['-r', '--remote', '--syslog'],
    valued: words('-c --connection --identity --url --log-level --root --runroot --module'),
  },
};

export const launchers: readonly Launcher[] = [
  row({ ...npm, name: 'npx', spelt: ['npx'] }),
  row({ ...npm, name: 'npm exec', spelt: ['npm', 'exec'] }),
  row({ ...npm, name: 'npm exec', spelt: ['npm', 'x'] }),
  row({ ...pnpm, name: 'pnpm dlx', spelt: ['pnpm', 'dlx'] }),
  row({ ...pnpm, name: 'pnpm dlx', spelt: ['pnpx'] }),
  row({ ...pnpm, name: 'pnpm dlx', spelt: ['pnx'] }),
  row({
    name: 'yarn dlx',
    spelt: ['yarn', 'dlx'],
    names: 'npm',
    flags: '-q --quiet',
    valued: '',
    naming: '-p --package',
    folders: '--cwd',
    // `yarnpkg.com/configuration/yarnrc`: `yarnPath` and `plugins` are programs. `.yarnrc` of Yarn 1.
    files: `.yarnrc.yml .yarnrc .npmrc .node-version ${ofManagers}`,
    manifestKeys: 'packageManager volta',
  }),
  row({ ...bun, name: 'bunx', spelt: ['bunx'] }),
  row({ ...bun, name: 'bunx', spelt: ['bun', 'x'] }),
  row({ ...uv, name: 'uvx', spelt: ['uvx'] }),
  row({ ...uv, name: 'uv tool run', spelt: ['uv', 'tool', 'run'] }),
  row({
    name: 'pipx run',
    spelt: ['pipx', 'run'],
    names: 'pep508',
    flags: '--no-cache --pypackages -v --verbose -q --quiet --system-site-packages --global',
    valued: '--python --pip-args -i --index-url --backend --with --fetch-python',
    naming: '--spec',
    files: `.python-version ${ofManagers}`,
    localPrograms: '__pypackages__ {program}',
    readsModules: true,
  }),
  row({ ...container, name: 'docker run', spelt: ['docker', 'run'] }),
  row({ ...container, name: 'docker run', spelt: ['docker', 'container', 'run'] }),
  row({ ...container, name: 'podman run', spelt: ['podman', 'run'] }),
  row({ ...container, name: 'podman run', spelt: ['podman', 'container', 'run'] }),
];

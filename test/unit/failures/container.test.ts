/** Containers without input (X3d): found in every spelling, and never a false alarm. */
import assert from 'node:assert/strict';
import { commandWords } from '../../../src/core/base/commandWords.js';
import { literal } from '../../../src/core/config/model.js';
import { inputMissing } from '../../../src/core/failures/container.js';

const missing = (line: string) => {
  const [command = '', ...args] = commandWords(line) ?? [];
  return inputMissing({
    transport: 'stdio',
    command,
    args: args.map(literal),
    cwd: '/ws',
    env: new Map(),
  });
};

describe('containers without input (X3d)', () => {
  for (const line of [
    'docker run --rm x',
    'docker run --rm -e A=b x -i',
    'podman run --network host x',
    'nerdctl --namespace k8s.io run x',
    'docker --context a container run x',
    '/usr/bin/docker exec c server',
    'docker.exe run x',
    'docker --debug -H tcp://h:1 --log-level=debug run --rm x',
    'podman --remote run x',
    'docker run -t x',
    'docker run -tv /a:/b -p 1:2 x',
    'docker run --interactive=false x',
    'docker run -i=false x',
    'docker run --name i x --interactive',
    'docker run --sig-proxy x -i',
    'sudo docker run --rm x',
    'sudo -n -E docker run x',
    'sudo -u root -- podman run x',
    'sudo A=b docker run x',
    'sudo -u docker podman run x',
    'env docker run x',
    'env -i -u HOME A=b C=d docker run x',
    'env A=b sudo -nE docker run x',
    'nice -n 5 docker run x',
    "sh -c 'docker run --rm x'",
    'bash -lc "exec docker run --rm x"',
    "/bin/sh -e -c 'cd /ws && export A=b; A=c docker run -v $PWD:/ws x'",
    "bash -c 'set -e\ndocker run x'",
    "sudo sh -c 'docker run x'",
    'sh -c "bash -c \'docker run x\'"',
    'cmd /d /c docker run x',
    'pwsh -NoProfile -Command "docker run x"',
  ])
    it(`does not start: ${JSON.stringify(line)}`, () => {
      const failure = missing(line);
      assert.match(failure?.fix ?? '', /^Write `-i` behind `(?:run|exec)` in args\.$/);
      assert.match(failure?.message ?? '', /`(?:docker|podman|nerdctl) (?:run|exec)` without `-i`/);
    });

  for (const line of [
    'docker run -i x',
    'docker run --rm -e A -it x',
    'docker run -ti x',
    'docker run -dti x',
    'docker run -tiv /a:/b x',
    'docker run --rm --pull always --interactive x',
    'docker run --interactive=true x',
    'docker run --interactive=1 x',
    'docker run -i=true x',
    'docker run -eTOKEN -p 1:2 -i x',
    'docker run --no-healthcheck --rm -i x',
    'docker run --some-new-switch -i x',
    'docker run --some-new-option value -i x',
    'docker run -a stdin -a stdout x',
    'docker exec -i c server',
    'docker compose run x',
    'docker mcp gateway run',
    'docker start -ai c',
    'docker-server run x',
    'npx run x',
    'node docker run x',
    'sudo -u root docker run -i x',
    'sudo -E ./server docker run x',
    'sudo -u docker podman run -i x',
    'env A=b ./server docker run x',
    'env -i docker run -i x',
    "sh -c 'docker run -i x'",
    "sh -c 'docker run --rm $OPTS x'",
    'sh -c \'docker run "$@"\' -- -i x',
    "sh -c 'docker run ${OPTS} x'",
    "sh -c 'docker run -d redis; exec node server.js'",
    "sh -c 'node server.js && docker run x'",
    "sh -c 'docker run -d redis && exec node server.js'",
    "sh -c 'docker run -d redis & node server.js'",
    "sh -c 'docker run x < file'",
    "sh -c 'docker run $(cat options) x'",
    'sh -c \'echo "; docker run x"\'',
    "sh -c 'docker run \\\n -i x'",
    'sh docker run x',
    'sh start.sh -c "docker run x"',
    'bash -c',
    "cmd /c 'docker run %OPTS% x'",
    'sudo',
    'env A=b',
    `${'sudo '.repeat(10_000)}docker run x`,
  ])
    it(`starts: ${JSON.stringify(line.slice(-80))}`, () => assert.equal(missing(line), undefined));
});

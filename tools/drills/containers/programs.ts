import { type Checks, same } from './checks.ts';
import type { Engine } from './engine.ts';

const IMAGE = 'cfe-service:local';
const SIMULATOR_IMAGE = 'cfe-simulator:local';
/** As the compose file runs them; a container of its own, with nothing else around. */
const BARE = ['--rm', '--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL', '--network', 'none'];

/**
 * Every program of the image, with how it ends where it is given nothing: the configuration is read after all packages
 * are loaded, so whoever complains about it was able to start.
 */
const PROGRAMS: readonly [script: string, code: number, says: string][] = [
  ['node src/main/api.ts', 1, 'DATABASE_URL is not set'],
  ['node src/main/console.ts', 1, 'DATABASE_URL is not set'],
  ['node src/main/worker.ts', 1, 'DATABASE_URL is not set'],
  ['node src/main/migrate.ts', 1, 'DATABASE_URL is not set'],
  ['node src/main/cli.ts --help', 0, 'node src/main/cli.ts account create'],
  ['node src/main/makeSecrets.mjs /tmp/secrets', 0, 'made /tmp/secrets/cfe_pepper'],
  ['node src/main/healthCheck.ts http://127.0.0.1:1', 1, ''],
  ['ls -d local node_modules/{smtp-server,postal-mime,libxml2-wasm,cfe-local} 2>/dev/null; true', 0, ''],
  [
    `node local/main/simulator.ts & sleep 1
     for n in $(seq 60); do node src/main/healthCheck.ts http://127.0.0.1:8090/livez && exit 0; sleep 0.5; done; exit 1`,
    0,
    '',
  ],
  ['id -u; ls -d node_modules/@swc/core* 2>&1; ls "$CFE_WORKFLOW_BUNDLE"', 0, '1000'],
];

/** Starts each program of the image with a read-only root, a /tmp that executes nothing, and no capability. */
export async function checkPrograms(checks: Checks, engine: Engine): Promise<void> {
  for (const [script, code, says] of PROGRAMS) {
    await checks.check(`in the image: ${script.split('\n')[0]}`, () => {
      const said = engine.docker(
        'run',
        ...BARE,
        '--env',
        'CFE_DATA_DIR=/tmp/data',
        script.includes('local/main/') ? SIMULATOR_IMAGE : IMAGE,
        '/bin/sh',
        '-c',
        `( ${script}\n) 2>&1; echo "code $?"`,
      );
      const [, ended] = /code (\d+)\s*$/.exec(said) ?? [];
      same(ended, String(code), `the code, with ${said.trim().slice(-500)},`);
      if (!said.includes(says)) throw new Error(said);
    });
  }
}

/** One build: it takes the name from the image before it, of each of ours, and leaves no other without a name. */
export function builtOnce({ docker }: Engine, shell: (script: string) => string): void {
  docker('image', 'prune', '--force');
  const said = shell('echo >> src/main/api.ts && docker compose build --progress plain');
  same(
    said.match(/naming to \S+/g)?.toSorted(),
    [IMAGE, SIMULATOR_IMAGE].map((image) => `naming to docker.io/library/${image}`),
    'what was built',
  );
  same(
    docker('images', '-q', '--filter', 'dangling=true').trim().split('\n').length,
    [IMAGE, SIMULATOR_IMAGE].length,
    'images without a name',
  );
}

/** The bytes of our image beyond those of its base. */
export function imageBytes({ docker }: Engine): number {
  const sizeOf = (image: string): number =>
    Number(docker('image', 'inspect', '--format', '{{.Size}}', image));
  const [base = ''] = docker('images', '--format', '{{.Repository}}:{{.Tag}}', 'node').split('\n');
  return sizeOf(IMAGE) - sizeOf(base);
}

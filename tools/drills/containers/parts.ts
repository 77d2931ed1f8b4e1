/** What the engine and the stand-ins are made of: Debian's packages, Go modules, packages of npm. */
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT } from '../../../local/stack/checkout.ts';
import { obtainTemporal } from '../../../local/stack/temporal/obtainTemporal.ts';
import { buildServer, type ServerBuild } from '../productionTemporal/build.ts';
import { cached, run, type Say } from './cache.ts';

/** Another version by CFE_CONTAINERS_COMPOSE, to try what docs/production.md names as the least. */
const COMPOSE_VERSION = process.env['CFE_CONTAINERS_COMPOSE'] ?? '2.40.3';
const DEBIAN = 'bookworm';
const ENGINE = ['docker.io', 'iptables', 'slirp4netns', 'debootstrap', 'tini'];
const IN_THE_STAND_INS = ['ca-certificates', 'postgresql-client', 'gosu', 'netcat-openbsd', 'busybox'];
const NPM_VERSION = '11.21.2';

/** Folders and files outside of the checkout. */
export interface Parts {
  /** dockerd and all that it calls, unpacked: bin/ is for the PATH, lib/ for LD_LIBRARY_PATH. */
  engine: string;
  /** The plug-in docker-compose. */
  compose: string;
  composeVersion: string;
  /** A Debian as a tar file, on which every stand-in is made. */
  debian: string;
  npm: string;
  /** A folder with the UI's server, its configuration and its start script. */
  ui: string;
  server: ServerBuild;
  temporalCli: string;
}

/** Obtains what is not in the cache yet. Throws where a registry cannot be reached or a build fails. */
export async function obtainParts(say: Say): Promise<Parts> {
  const engine = await cached(`engine-${DEBIAN}`, say, unpackEngine);
  const compose = await cached(`compose-${COMPOSE_VERSION}`, say, (folder) => {
    buildModule('github.com/docker/compose/v2', COMPOSE_VERSION, './cmd', join(folder, 'docker-compose'));
  });
  const debian = await cached(`debian-${DEBIAN}`, say, (folder) => makeDebian(engine, folder));
  const npm = await cached(`npm-${NPM_VERSION}`, say, (folder) => {
    run('npm', ['pack', `npm@${NPM_VERSION}`, '--silent'], { cwd: folder });
    run('tar', ['-xzf', `npm-${NPM_VERSION}.tgz`], { cwd: folder });
  });
  const uiVersion = versionIn('github.com/temporalio/ui-server/v2');
  const ui = await cached(`ui-${uiVersion}`, say, (folder) => {
    const module = buildModule(
      'github.com/temporalio/ui-server/v2',
      uiVersion,
      './cmd/server',
      join(folder, 'ui-server'),
    );
    cpSync(join(module, 'config', 'docker.yaml'), join(folder, 'docker.yaml'));
    cpSync(join(module, 'docker', 'start-ui-server.sh'), join(folder, 'start-ui-server.sh'));
  });
  const server = buildServer(say);
  const { path: temporalCli } = await obtainTemporal({ variables: process.env, say });
  return {
    engine,
    compose,
    composeVersion: COMPOSE_VERSION,
    debian: join(debian, 'debian.tar'),
    npm: join(npm, 'package'),
    ui,
    server,
    temporalCli,
  };
}

/** The version of a module that the local stack's Temporal is built with, and the compose file names. */
function versionIn(module: string): string {
  const text = readFileSync(join(CHECKOUT, 'tools', 'temporal', 'go.mod'), 'utf8');
  const [, version] = new RegExp(`\\s${module} v([\\d.]+)`).exec(text) ?? [];
  if (!version) throw new Error(`tools/temporal/go.mod names no ${module}`);
  return version;
}

/** Debian's packages, and those they need that the machine lacks, unpacked and not installed. */
function unpackEngine(folder: string): void {
  run('apt-get', ['update', '-qq']);
  const wanted = run('apt-get', ['install', '-s', '--no-install-recommends', ...ENGINE]);
  const lacking = [...wanted.matchAll(/^Inst (\S+)/gm)].map(([, name]) => String(name));
  const archives = join(folder, 'archives');
  mkdirSync(archives);
  run('apt-get', ['download', '-o', 'APT::Sandbox::User=root', ...new Set([...ENGINE, ...lacking])], {
    cwd: archives,
  });
  run(
    '/bin/sh',
    ['-euc', 'for file in archives/*.deb; do dpkg -x "$file" root; done; rm -r archives; mkdir bin'],
    {
      cwd: folder,
    },
  );
  for (const place of ['usr/bin', 'usr/sbin']) {
    const found = run('find', [join('root', place), '-type', 'f', '-perm', '-u+x', '-printf', '%f\n'], {
      cwd: folder,
    });
    for (const name of found.split('\n').filter(Boolean))
      symlinkSync(join('..', 'root', place, name), join(folder, 'bin', name));
  }
  for (const name of ['iptables', 'ip6tables'])
    symlinkSync('../root/usr/sbin/xtables-nft-multi', join(folder, 'bin', name));
  symlinkSync('../root/usr/bin/tini-static', join(folder, 'bin', 'docker-init'));
  symlinkSync('root/usr/lib/x86_64-linux-gnu', join(folder, 'lib'));
}

/** The variables with which the unpacked programs find each other and their libraries. */
export const engineEnvironment = (engine: string): NodeJS.ProcessEnv => ({
  ...process.env,
  PATH: `${join(engine, 'bin')}:${process.env['PATH']}`,
  LD_LIBRARY_PATH: join(engine, 'lib'),
  XTABLES_LIBDIR: join(engine, 'lib', 'xtables'),
  DEBOOTSTRAP_DIR: join(engine, 'root', 'usr', 'share', 'debootstrap'),
});

function makeDebian(engine: string, folder: string): void {
  const words = ['--variant=minbase', `--include=${IN_THE_STAND_INS.join(',')}`, DEBIAN, 'root'];
  const { LD_LIBRARY_PATH: _, ...env } = engineEnvironment(engine);
  // With mounts of its own, which go with it.
  run('unshare', ['--mount', '--', join(engine, 'bin', 'debootstrap'), ...words], { cwd: folder, env });
  run('/bin/sh', ['-euc', 'rm -rf root/var/cache/apt root/var/lib/apt/lists/* root/usr/share/doc'], {
    cwd: folder,
  });
  run('tar', ['-C', 'root', '--numeric-owner', '-cf', 'debian.tar', '.'], { cwd: folder });
  run('rm', ['-r', '--one-file-system', 'root'], { cwd: folder });
}

/** Builds a program of a module of the Go proxy; answers where its sources lie. */
function buildModule(module: string, version: string, what: string, target: string): string {
  const { Dir } = JSON.parse(run('go', ['mod', 'download', '-json', `${module}@v${version}`])) as {
    Dir: string;
  };
  const sources = `${target}.sources`;
  // A copy, because Go's own cannot be written to, and its go.sum may want more lines.
  cpSync(Dir, sources, { recursive: true });
  run('chmod', ['-R', 'u+w', sources]);
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=mod', GOWORK: 'off' };
  run(
    'go',
    [
      'build',
      '-p',
      '2',
      '-trimpath',
      '-ldflags',
      `-s -w -X ${module}/internal.Version=v${version}`,
      '-o',
      target,
      what,
    ],
    { cwd: sources, env },
  );
  run('rm', ['-r', sources]);
  return Dir;
}

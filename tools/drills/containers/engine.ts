import { spawn } from 'node:child_process';
import { mkdirSync, openSync, symlinkSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { basename, join } from 'node:path';
import { until } from '../../../local/demo/until.ts';
import { run } from './cache.ts';

/** Of slirp4netns, which asks those of this machine: outside of every container network. */
export const NAME_SERVER = '10.0.2.3';

/** A Docker Engine that runs, and how to speak to it. */
export interface Engine {
  /** The variables by which `docker` and `docker compose` find it. */
  env: NodeJS.ProcessEnv;
  /** Calls `docker`; what it says on standard output. Throws where it fails. */
  docker: (...args: string[]) => string;
}

/** Starts an engine whose data lie in `folder`, and waits until it answers. It ends with the namespace that we are in. */
export async function startEngine(folder: string, compose: string): Promise<Engine> {
  await until('the way out', 20, async () => 'tap0' in networkInterfaces());
  run('ip', ['link', 'set', 'lo', 'up']);
  const socket = `unix://${join(folder, 'docker.sock')}`;
  const settings = {
    hosts: [socket],
    'data-root': join(folder, 'data'),
    'exec-root': join(folder, 'exec'),
    pidfile: join(folder, 'docker.pid'),
    'cgroup-parent': `/cfe-${basename(folder)}`,
    'exec-opts': ['native.cgroupdriver=cgroupfs'],
    'default-ulimits': {
      nofile: { Name: 'nofile', Soft: 1_024, Hard: 4_096 },
      nproc: { Name: 'nproc', Soft: 4_096, Hard: 4_096 },
    },
    'default-address-pools': [{ base: '10.213.0.0/16', size: 24 }],
    bip: '10.212.0.1/24',
    dns: [NAME_SERVER],
    features: { buildkit: true },
  };
  writeFileSync(join(folder, 'daemon.json'), JSON.stringify(settings));
  const log = openSync(join(folder, 'dockerd.log'), 'w');
  spawn('dockerd', ['--config-file', join(folder, 'daemon.json')], { stdio: ['ignore', log, log] });

  const config = join(folder, 'config');
  mkdirSync(join(config, 'cli-plugins'), { recursive: true });
  symlinkSync(join(compose, 'docker-compose'), join(config, 'cli-plugins', 'docker-compose'));
  const { NODE_OPTIONS: _, ...outer } = process.env;
  const env = { ...outer, DOCKER_HOST: socket, DOCKER_CONFIG: config, DOCKER_BUILDKIT: '1' };
  const docker = (...args: string[]): string => run('docker', args, { env });
  await until('the engine', 60, async () => {
    try {
      return docker('version', '--format', '{{.Server.Version}}');
    } catch {
      return undefined;
    }
  });
  return { env, docker };
}

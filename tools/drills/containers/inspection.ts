/** What containers are and hold, seen from outside and from inside. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ComposeService, readCompose } from '../../../test/support/production/composeFile.ts';
import { same } from './checks.ts';
import { type Engine, NAME_SERVER } from './engine.ts';

/** A container as `docker inspect` shows it, as far as we look. */
export interface Container {
  Id: string;
  Config: { Labels: Record<string, string>; Env: string[]; User: string };
  State: { Status: string; Pid: number; ExitCode: number; FinishedAt: string; Health?: { Status: string } };
  HostConfig: { ReadonlyRootfs: boolean; CapAdd: string[] | null; Privileged: boolean };
  Mounts: { Destination: string; RW: boolean }[];
  NetworkSettings: {
    Ports: Record<string, { HostIp: string; HostPort: string }[] | null>;
    Networks: Record<string, { IPAddress: string }>;
  };
}

const SERVICE = 'com.docker.compose.service';
/** Those that run programs of ours, and stay. */
export const OWN = ['api', 'console', 'worker', 'simulator'];
const PORTS = ['3000', '3001', '7233', '8090', '8233', '9464', '9466'];
const NODE_USER = '1000';
const DNS_PORT = 53;
/** For a connection that is dropped in silence; one that is let through needs no time. */
const PATIENCE_SECONDS = 2;
/** On which port each server listens for those on a network with it. */
const SERVERS = {
  postgres: 5_432,
  temporal: 7_233,
  'temporal-ui': 8_080,
  api: 3_000,
  console: 3_001,
  simulator: 8_090,
};

/** The containers of the compose file, one-off ones left out; those that ran too. */
export function containersOf({ docker }: Engine, project = 'cfe'): readonly Container[] {
  const ids = docker('ps', '-aq', '--filter', `label=com.docker.compose.project=${project}`)
    .split('\n')
    .filter(Boolean);
  if (ids.length === 0) return [];
  return (JSON.parse(docker('inspect', ...ids)) as Container[]).filter(
    ({ Config }) => Config.Labels['com.docker.compose.oneoff'] !== 'True',
  );
}

export const serviceOf = ({ Config }: Container): string => String(Config.Labels[SERVICE]);

const running = (engine: Engine): readonly Container[] =>
  containersOf(engine).filter(({ State }) => State.Status === 'running');

const isJob = (service?: ComposeService): boolean => service?.restart === 'on-failure:5';

/** All that stay run and are healthy; all jobs have ended well. */
export function allWell(engine: Engine): void {
  const { services } = readCompose();
  for (const container of containersOf(engine)) {
    const { Status, ExitCode, Health } = container.State;
    const job = isJob(services[serviceOf(container)]);
    const is = job ? [Status, ExitCode] : [Status, Health?.Status];
    same(is, job ? ['exited', 0] : ['running', 'healthy'], serviceOf(container));
  }
}

/** User, capabilities and what can be written, of every program that runs; as the kernel sees the program itself. */
export function rightsAreFew(engine: Engine): void {
  for (const container of running(engine)) {
    const name = serviceOf(container);
    const status = engine.docker('exec', container.Id, 'cat', '/proc/1/status');
    const of = (key: string): string => new RegExp(`^${key}:\\s+(\\S+)`, 'm').exec(status)?.[1] ?? '';
    same(of('NoNewPrivs'), '1', `${name}: no new privileges`);
    same(container.HostConfig.Privileged, false, `${name}: privileged`);
    if (name !== 'postgres')
      same([of('CapEff'), of('CapBnd')], ['0000000000000000', '0000000000000000'], `${name}: capabilities`);
    if (name !== 'postgres') same(of('Uid'), NODE_USER, `${name}: user`);
    if (OWN.includes(name)) cannotWrite(engine, container);
  }
}

function cannotWrite({ docker }: Engine, container: Container): void {
  const name = serviceOf(container);
  same(container.HostConfig.ReadonlyRootfs, true, `${name}: read-only root`);
  const writable = container.Mounts.filter(({ RW }) => RW).map(({ Destination }) => Destination);
  same(writable, name === 'simulator' ? ['/data'] : [], `${name}: what can be written`);
  const tmp = docker('exec', container.Id, 'grep', ' /tmp ', '/proc/mounts');
  if (!/noexec/.test(tmp) || !/size=65536k/.test(tmp)) throw new Error(`${name}: /tmp is ${tmp.trim()}`);
}

/** A service holds the secrets that the compose file gives it, as files, and no other. */
export function secretsAreTheirs(engine: Engine): void {
  const { services } = readCompose();
  for (const container of containersOf(engine)) {
    const held = container.Mounts.map(({ Destination }) => Destination)
      .filter((path) => path.startsWith('/run/secrets/'))
      .map((path) => path.slice('/run/secrets/'.length));
    const name = serviceOf(container);
    same(held.toSorted(), (services[name]?.secrets ?? []).toSorted(), `${name}: secrets`);
  }
}

/** Only what the document names can be reached, and only from this machine. */
export function portsAreClosed(engine: Engine): void {
  const published = containersOf(engine).flatMap(({ NetworkSettings }) =>
    Object.values(NetworkSettings.Ports).flatMap((bindings) => bindings ?? []),
  );
  same(
    published.map(({ HostIp, HostPort }) => `${HostIp}:${HostPort}`).toSorted(),
    PORTS.map((port) => `127.0.0.1:${port}`),
    'what is published',
  );
  const LISTENS = '0A';
  const listening = ['tcp', 'tcp6']
    .flatMap((kind) => readFileSync(`/proc/self/net/${kind}`, 'utf8').trim().split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state]) => state === LISTENS)
    .map(([, address = '']) => address);
  const elsewhere = listening.filter((address) => !address.startsWith('0100007F:'));
  same(elsewhere, [], 'what listens on other addresses than 127.0.0.1');
}

/** Who shares no network of the compose file with a server cannot reach it; who is on internal ones only gets nowhere. */
export function edgesAreApart(engine: Engine): void {
  const { services, networks } = readCompose();
  const networksOf = (name: string): readonly string[] => services[name]?.networks ?? [];
  const neighbours = (one: string, other: string): boolean =>
    one === other || networksOf(one).some((network) => networksOf(other).includes(network));
  const found = running(engine).filter((container) => !isJob(services[serviceOf(container)]));
  for (const from of found) {
    const name = serviceOf(from);
    const reached = Object.entries(SERVERS).filter(([server, port]) =>
      found
        .filter((container) => serviceOf(container) === server)
        .flatMap(({ NetworkSettings }) => Object.values(NetworkSettings.Networks))
        .some(({ IPAddress }) => connects(from, IPAddress, port)),
    );
    same(
      reached.map(([server]) => server),
      Object.keys(SERVERS).filter((server) => neighbours(name, server)),
      `what ${name} reaches`,
    );
    same(
      connects(from, NAME_SERVER, DNS_PORT),
      networksOf(name).some((network) => !networks[network]?.internal),
      `${name}: a way outside`,
    );
  }
}

/** Whether a connection from within a container's network succeeds; what is dropped is given up. */
const connects = ({ State }: Container, address: string, port: number): boolean =>
  spawnSync('/bin/sh', [
    '-c',
    `nsenter -t ${State.Pid} -n timeout ${PATIENCE_SECONDS} bash -c 'exec 3<>/dev/tcp/${address}/${port}'`,
  ]).status === 0;

/** Neither secrets nor what customers entrusted to us stand in logs, settings or layers. */
export function nothingIsTold(engine: Engine, checkout: string, others: readonly string[]): void {
  const folder = join(checkout, 'secrets');
  const secrets = readdirSync(folder).flatMap((name) => piecesOf(readFileSync(join(folder, name), 'utf8')));
  const image = readCompose().services['api']?.image?.replace(/^.*:-(.*)}$/, '$1') ?? '';
  const told: [place: string, text: string][] = [
    ['the image', engine.docker('image', 'inspect', image) + engine.docker('history', '--no-trunc', image)],
    ...containersOf(engine).flatMap((container): [string, string][] => [
      [`the settings of ${serviceOf(container)}`, engine.docker('inspect', container.Id)],
      [`the log of ${serviceOf(container)}`, logOf(engine, container)],
    ]),
  ];
  for (const [place, text] of told)
    for (const secret of [...secrets, ...others])
      if (text.includes(secret)) throw new Error(`${place} holds a secret of ${secret.length} characters`);
}

/** The secret words in a file: a password, the key of `id:key`, the private part of a JWK. */
const piecesOf = (content: string): string[] =>
  [...content.matchAll(/[A-Za-z0-9+/=_-]{24,}/g)].map(([piece]) => piece);

export const logOf = ({ env }: Engine, { Id }: Container): string => {
  const { stdout, stderr } = spawnSync('docker', ['logs', Id], { env, encoding: 'utf8', maxBuffer: 256e6 });
  return stdout + stderr;
};

/** Every line that our programs write is a JSON object. */
export function logsAreJson(engine: Engine): void {
  for (const container of containersOf(engine).filter((one) =>
    [...OWN, 'migrate'].includes(serviceOf(one)),
  )) {
    const strange = logOf(engine, container)
      .split('\n')
      .filter((line) => line !== '' && !isObject(line));
    same(strange.slice(0, 3), [], `${serviceOf(container)}: lines that are no JSON`);
  }
}

function isObject(line: string): boolean {
  try {
    return typeof JSON.parse(line) === 'object';
  } catch {
    return false;
  }
}

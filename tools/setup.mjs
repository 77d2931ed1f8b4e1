/**
 * Makes a fresh checkout able to run, then hands over to a TypeScript program on Node 24:
 *
 *     node tools/setup.mjs <program.ts> [arguments…]
 *
 * Plain JavaScript without dependencies: it runs before anything is installed, on any Node from 20 on. Last of all it
 * writes `node_modules/.setup-stamp`, so that a second run uses no network.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
// The default export: on an old Node a missing named export would fail before the message about its age.
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const { existsSync, readFileSync, realpathSync, rmSync, writeFileSync } = fs;
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PLATFORMS = ['linux-x64', 'linux-arm64', 'darwin-arm64', 'darwin-x64'];
const LEAST_NODE = 20;
const PROGRAM_NODE = 24;
const BYTES_FOR_PACKAGES = 1.5e9;
const SAY_EVERY_MS = 5_000;
const PARENT_LOOK_EVERY_MS = 500;

/** Something a person has to put right; printed without a stack trace. */
export class SetupError extends Error {}

const say = (line) => process.stderr.write(`${line}\n`);

/** Why this machine cannot run the project; undefined when it can. */
export function unsupported({ platform, arch, musl, nodeVersion }) {
  if (Number.parseInt(nodeVersion, 10) < LEAST_NODE) {
    return `Node ${nodeVersion} is too old: install Node ${LEAST_NODE} or later (https://nodejs.org) and run the same command again.`;
  }
  if (platform === 'win32') {
    return 'Windows itself is not supported; run the project inside WSL 2 (https://learn.microsoft.com/windows/wsl).';
  }
  if (!PLATFORMS.includes(`${platform}-${arch}`)) {
    return `${platform}-${arch} is not supported; the project runs on ${PLATFORMS.join(', ')}.`;
  }
  if (musl) {
    return 'This Linux uses musl (as Alpine does), but PostgreSQL and Temporal need glibc. Use Debian, Ubuntu or Fedora, or an image such as node:24-bookworm.';
  }
  return undefined;
}

function usesMusl() {
  if (process.platform !== 'linux') return false;
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime === undefined;
}

/** The hash in the stamp of a finished set-up: of the lock file and the kind of machine. */
export function stampOf(lockFile, platform = process.platform, arch = process.arch) {
  return createHash('sha256').update(lockFile).update(`\n${platform}-${arch}`).digest('hex');
}

/**
 * Whether the packages that npm recorded as installed (`node_modules/.package-lock.json`) are those of the lock file, so
 * that a person's own `npm ci` counts. Optional ones may be missing: they are for other machines.
 */
export function sameAsLocked(lock, installed) {
  const locked = lock.packages ?? {};
  const there = installed.packages ?? {};
  const same = (a, b) => a.version === b.version && a.integrity === b.integrity;
  return (
    Object.entries(there).every(
      ([place, entry]) => locked[place] !== undefined && same(locked[place], entry),
    ) &&
    Object.entries(locked).every(
      ([place, entry]) => place === '' || entry.optional || entry.devOptional || there[place],
    )
  );
}

/** What to tell a person about a failed `npm ci`, from its output. */
export function explainFailure(output) {
  if (/ENOSPC/.test(output)) return 'The disk is full. Make room and run the same command again.';
  if (
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT/.test(
      output,
    )
  ) {
    return 'The package registry cannot be reached. Check the network (and `npm config get registry`, `npm config get proxy`), then run the same command again.';
  }
  if (/EUSAGE|can only install packages when your package.json/.test(output)) {
    return 'package-lock.json does not match package.json. Restore both from the repository (git checkout package.json package-lock.json).';
  }
  if (/EACCES|EPERM/.test(output))
    return `This user may not write to ${ROOT}node_modules. Change the folder's owner, then run the same command again.`;
  return 'npm could not install the packages.';
}

const insideModules = (file) => resolve(file).startsWith(join(ROOT, 'node_modules') + sep);
const read = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : undefined);

/** PATH without our own node_modules: `npm ci` removes what is there, even the Node that runs it. */
function outerPath(path = process.env.PATH ?? '') {
  return path.split(delimiter).filter((folder) => folder !== '' && !insideModules(join(folder, 'x')));
}

const onPath = (name, folders) =>
  folders.map((folder) => join(folder, name)).find((file) => existsSync(file));

/** The system's Node and npm, as the beginning of a command line. */
function systemNpm() {
  const folders = outerPath();
  const { npm_node_execpath: npmNode, npm_execpath: npmProgram } = process.env;
  const nodes = [npmNode, process.execPath, onPath('node', folders)];
  const node = nodes.find(
    (file) => file && existsSync(file) && !insideModules(realpathSync(file)) && !insideModules(file),
  );
  const npm =
    npmProgram?.endsWith('npm-cli.js') && existsSync(npmProgram) && !insideModules(npmProgram)
      ? npmProgram
      : onPath('npm', folders);
  if (!node || !npm)
    throw new SetupError(
      `npm is not on the PATH. Install Node with npm (${LEAST_NODE} or later), then run the same command again.`,
    );
  return [node, realpathSync(npm)];
}

async function installPackages(lock) {
  const { bavail, bsize } = fs.statfsSync(ROOT);
  if (bavail * bsize < BYTES_FOR_PACKAGES) {
    throw new SetupError(
      `The packages need ${BYTES_FOR_PACKAGES / 1e9} GB of free disk space at ${ROOT}; only ${((bavail * bsize) / 1e9).toFixed(1)} GB are free.`,
    );
  }
  const [node, npm] = systemNpm();
  const startedAt = Date.now();
  const seconds = () => `${Math.round((Date.now() - startedAt) / 1000)} s`;
  say('Installing the packages of package-lock.json (usually 15 to 60 s) …');
  // Without a network one wants to know soon; npm's own retries take tens of seconds.
  const flags = [
    '--include=dev',
    '--include=optional',
    '--no-audit',
    '--no-fund',
    '--prefer-offline',
    '--loglevel=error',
    '--fetch-retries=2',
    '--fetch-retry-mintimeout=1000',
    '--fetch-retry-maxtimeout=3000',
  ];
  const child = spawn(node, [npm, 'ci', ...flags], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PATH: [dirname(node), ...outerPath()].join(delimiter) },
  });
  lock.hold(child.pid);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const timer = setInterval(() => say(`  … ${seconds()}`), SAY_EVERY_MS);
  const stop = passSignals(child);
  const [code, signal] = await new Promise((done) => {
    child.once('error', (error) => done([error.code ?? 1, null]));
    child.once('close', (...how) => done(how));
  });
  clearInterval(timer);
  stop();
  if (signal) dieBy(signal);
  if (code !== 0)
    throw new SetupError(`${explainFailure(output)}\n${output.trim().split('\n').slice(-12).join('\n')}`);
  say(`  done in ${seconds()}`);
}

/** The processes that a lock file names; undefined when it is gone. */
function holdersOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    return error.code === 'ENOENT' ? undefined : [];
  }
}

/** One set-up of a checkout at a time; a second waits for the first. */
async function alone(work) {
  const file = join(
    tmpdir(),
    `cfe-setup-${createHash('sha256').update(ROOT).digest('hex').slice(0, 16)}.lock`,
  );
  let pids = [process.pid];
  const own = `${file}.${process.pid}`;
  // The file always appears complete: one that cannot be read would count as nobody's.
  const write = (place) => {
    writeFileSync(own, JSON.stringify(pids));
    try {
      place(own, file);
    } finally {
      rmSync(own, { force: true });
    }
  };
  const alive = (pid) => {
    try {
      return process.kill(pid, 0);
    } catch (error) {
      return error.code === 'EPERM';
    }
  };
  for (let told = false; ; ) {
    try {
      write(fs.linkSync);
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const holders = holdersOf(file);
    if (holders && !holders.some(alive)) rmSync(file, { force: true });
    else if (holders && !told) {
      say('Another set-up of this checkout is running; waiting for it …');
      told = true;
    }
    await new Promise((done) => setTimeout(done, 300));
  }
  const release = () => rmSync(file, { force: true });
  process.once('exit', release);
  try {
    return await work({
      hold(pid) {
        pids = [...pids, pid];
        write(fs.renameSync);
      },
    });
  } finally {
    release();
    process.off('exit', release);
  }
}

/** A Node that runs TypeScript directly: the one among the packages, or the system's. */
function programNode() {
  const runs = (node) => {
    const { status, stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
    return status === 0 && Number.parseInt(stdout.slice(1), 10) >= PROGRAM_NODE;
  };
  const candidates = [
    join(ROOT, 'node_modules', '.bin', 'node'),
    process.execPath,
    onPath('node', outerPath()),
  ];
  const node = candidates.find((file) => file && existsSync(file) && runs(file));
  if (node) return node;
  throw new SetupError(
    `Node ${PROGRAM_NODE} was not installed with the packages, or does not run on this machine (it needs glibc 2.28). Install Node ${PROGRAM_NODE} yourself and run the same command again.`,
  );
}

/** Sets up what is not set up yet; returns the path of the Node to run programs on. */
async function setUp() {
  const lockFile = readFileSync(join(ROOT, 'package-lock.json'), 'utf8');
  const stampFile = join(ROOT, 'node_modules', '.setup-stamp');
  const hash = stampOf(lockFile);
  const stamped = () => {
    const [held, node] = (read(stampFile) ?? '').split('\n');
    return held === hash && node && existsSync(resolve(ROOT, node)) ? resolve(ROOT, node) : undefined;
  };
  const ready = stamped();
  if (ready) return ready;
  const obstacle = unsupported({
    platform: process.platform,
    arch: process.arch,
    musl: usesMusl(),
    nodeVersion: process.versions.node,
  });
  if (obstacle) throw new SetupError(obstacle);
  return alone(async (lock) => {
    const meanwhile = stamped();
    if (meanwhile) return meanwhile;
    const noted = read(join(ROOT, 'node_modules', '.package-lock.json'));
    const installed = noted !== undefined && sameAsLocked(JSON.parse(lockFile), JSON.parse(noted));
    if (!installed) await installPackages(lock);
    const node = programNode();
    // Relative if possible: a checkout may be moved.
    writeFileSync(stampFile, `${hash}\n${insideModules(node) ? relative(ROOT, node) : node}\n`);
    return node;
  });
}

/** Passes our signals on to a child; the returned function stops that. */
function passSignals(child) {
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'];
  const passOn = (name) => child.kill(name);
  for (const name of names) process.on(name, passOn);
  return () => {
    for (const name of names) process.off(name, passOn);
  };
}

/** Ends us by the signal that ended a child. */
function dieBy(signal) {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/** Replaces our process with the program; if Node cannot, runs it as a child that lives and dies with us. */
function handOver(node, program, args) {
  const preload = new URL('../local/stack/processes/endWithLauncher.ts', import.meta.url);
  const underNpm = process.env.npm_lifecycle_event !== undefined;
  const env = { NODE_COMPILE_CACHE: join(ROOT, 'node_modules', '.cache', 'compile'), ...process.env };
  const words = (address) => [
    '--disable-warning=ExperimentalWarning',
    ...(address ? [`--import=${address}`] : []),
    program,
    ...args,
  ];
  if (typeof process.execve === 'function') {
    process.removeAllListeners('warning');
    process.execve(
      node,
      [node, ...words(underNpm ? `${preload.href}?parent=${process.ppid}` : undefined)],
      env,
    );
  }
  const child = spawn(node, words(preload), { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], env });
  passSignals(child);
  child.once('error', (error) => fail(error));
  child.once('exit', (code, signal) => (signal ? dieBy(signal) : process.exit(code)));
  if (!underNpm) return;
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) child.kill('SIGTERM');
  }, PARENT_LOOK_EVERY_MS).unref();
}

function fail(error) {
  say(error instanceof SetupError ? error.message : String(error?.stack ?? error));
  process.exit(1);
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const [program, ...args] = process.argv.slice(2);
  process.chdir(ROOT);
  try {
    if (!program) throw new SetupError('Usage: node tools/setup.mjs <program.ts> [arguments…]');
    handOver(await setUp(), resolve(ROOT, program), args);
  } catch (error) {
    fail(error);
  }
}

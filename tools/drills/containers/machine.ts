import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const PROGRAMS = ['apt-get', 'dpkg', 'go', 'npm', 'unshare', 'ip', 'tar'];

const works = (program: string, ...args: string[]): boolean => spawnSync(program, args).status === 0;

/** Why no container engine can be had on this machine, in words; undefined where nothing speaks against it. */
export function refusalOfMachine(): string | undefined {
  if (process.platform !== 'linux') return `containers need Linux; this is ${process.platform}`;
  if (process.arch !== 'x64') return `the stand-ins are made for x64; this is ${process.arch}`;
  if (process.getuid?.() !== 0) return 'only root may start a container engine';
  const lacking = PROGRAMS.filter((name) => !works('/bin/sh', '-c', `command -v ${name}`));
  if (lacking.length > 0) return `there is no ${lacking.join(', no ')} on the PATH`;
  if (!existsSync('/dev/net/tun')) return 'there is no /dev/net/tun';
  if (!/\boverlay$/m.test(readFileSync('/proc/filesystems', 'utf8'))) return 'the kernel has no overlay';
  if (!works('unshare', '--net', '--mount', '--pid', '--fork', '--mount-proc', 'true'))
    return 'namespaces of its own are refused (unshare)';
  if (
    !works(
      '/bin/sh',
      '-c',
      'd=$(find /sys/fs/cgroup -maxdepth 2 -name cgroup.procs -writable | head -1); test -n "$d"',
    )
  )
    return 'control groups are refused (/sys/fs/cgroup)';
  return undefined;
}

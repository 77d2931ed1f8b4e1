import { realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** A system user with all groups that it belongs to. */
export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
}

const EXECUTE = 1;
const READ = 4;

/** Whether a user can reach a file or folder and use it: read and run a file, pass through a folder. */
export function openTo(path: string, user: SystemUser): boolean {
  const real = realpathSync(path);
  if (!allows(real, statSync(real).isDirectory() ? EXECUTE : READ | EXECUTE, user)) return false;
  for (let folder = dirname(real); ; folder = dirname(folder)) {
    if (!allows(folder, EXECUTE, user)) return false;
    if (folder === dirname(folder)) return true;
  }
}

function allows(path: string, wanted: number, user: SystemUser): boolean {
  const { mode, uid, gid } = statSync(path);
  const shift = uid === user.uid ? 6 : user.groups.includes(gid) ? 3 : 0;
  return ((mode >> shift) & wanted) === wanted;
}

/** By what name a program is known at Temporal, whose lists and histories show it. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
  version: string;
};

/** `worker/1.0.0 16064@host`: which program, of which release, and which process. */
export const IDENTITY = `${basename(process.argv[1] ?? 'cfe', '.ts')}/${version} ${process.pid}@${hostname()}`;

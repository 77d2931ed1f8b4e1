/** The name of this program in Temporal's lists and histories. */
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as {
  version: string;
};

/** `worker/1.0.0 16064@host`: program, release and process. */
export const IDENTITY = `${basename(process.argv[1] ?? 'cfe', '.ts')}/${version} ${process.pid}@${hostname()}`;

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A block of shell in a page. */
export interface Block {
  /** The heading that it stands under. */
  section: string;
  line: number;
  script: string;
}

/** The blocks marked `sh` of a page, in their order. */
function blocksIn(page: string): readonly Block[] {
  return [...page.matchAll(/^( *)```sh\n(.*?)^\1```$/gms)].map(({ index, 1: indent = '', 2: text = '' }) => {
    const before = page.slice(0, index);
    return {
      section: [...before.matchAll(/^## (.+)$/gm)].at(-1)?.[1] ?? '',
      line: before.split('\n').length + 1,
      script: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    };
  });
}

/**
 * A shell that scripts are typed into, one after the other: what one exports, the next finds. Answers what a script says
 * on both channels; throws with its last words where one of its lines fails.
 */
export function openShell(cwd: string, env: NodeJS.ProcessEnv, folder: string): (script: string) => string {
  const exported = join(folder, 'exported.sh');
  return (script) => {
    const before = existsSync(exported) ? `. '${exported}'` : '';
    const { status, stdout, stderr } = spawnSync(
      'bash',
      ['-euo', 'pipefail', '-c', `${before}\n${script}\nexport -p > '${exported}'`],
      { cwd, env, encoding: 'utf8', maxBuffer: 256e6, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const said = `${stdout}${stderr}`;
    if (status !== 0) throw new Error(`ended with ${status}: ${said.trim().slice(-2_000)}`);
    return said;
  };
}

/** The blocks of docs/production.md. */
export const productionBlocks = (checkout: string): readonly Block[] =>
  blocksIn(readFileSync(join(checkout, 'docs', 'production.md'), 'utf8'));

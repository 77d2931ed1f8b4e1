import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeOutcomes } from '../src/dgi/outcomes.ts';

/** docs/outcomes.md, made from the table that decides (src/dgi/outcomes.ts): `--write` it or `--check` it. */
const FILE = join(import.meta.dirname, '../docs/outcomes.md');
const page = `# What we do about every answer of the authority

Generated from \`src/dgi/outcomes.ts\` by \`npm run outcomes\`; the same table decides. \`code N\` is an exception of the service (dgi: ExcepcionesServicios). Reactions: *askFirst* — the outcome of a send is unknown, the authority is asked before the same bytes go out again; *repeat* — tried again by itself; *stuck* — the CFE waits for support with this reason.

${describeOutcomes()}`;

const [mode] = process.argv.slice(2);
if (mode === '--write') writeFileSync(FILE, page);
else if (readFileSync(FILE, 'utf8') !== page) {
  console.error('docs/outcomes.md is not in step with src/dgi/outcomes.ts: run npm run outcomes');
  process.exit(1);
}

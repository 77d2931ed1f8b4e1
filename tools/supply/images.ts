/** Which images production is made of, and what the registry says that their names stand for. */
import { parse, stringify } from 'yaml';

const ACCEPT = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');
const PATIENCE_MILLISECONDS = 10_000;

/** The images of others: by service of the compose file, those that ours is built from, and all of them once. */
interface ImageNames {
  readonly services: Readonly<Record<string, string>>;
  /** The service that builds our image. */
  readonly builder: string;
  readonly bases: readonly string[];
  readonly all: readonly string[];
}

/** Reads the names from the compose file and the Dockerfile. */
export function imageNames(compose: string, dockerfile: string): ImageNames {
  const { services } = parse(compose) as { services: Record<string, { image?: string; build?: unknown }> };
  const foreign = Object.entries(services).flatMap(([service, { image = '' }]) =>
    image === '' || image.startsWith('${CFE_') ? [] : [[service, image] as const],
  );
  const froms = [...dockerfile.matchAll(/^FROM (?<name>\S+)(?: AS (?<stage>\S+))?/gm)].map(
    ({ groups }) => groups,
  );
  const stages = froms.map((from) => from?.['stage']);
  const names = froms.map((from) => from?.['name'] ?? '');
  const bases = [...new Set(names)].filter((name) => !stages.includes(name));
  const [builder = ''] = Object.keys(services).filter((name) => services[name]?.build !== undefined);
  const all = [...new Set([...foreign.map(([, image]) => image), ...bases])];
  return { services: Object.fromEntries(foreign), builder, bases, all };
}

/** The digest of each image, as the registry tells it. Throws an Error that says which one it did not tell. */
export async function resolveDigests(
  names: readonly string[],
  registry: string,
): Promise<ReadonlyMap<string, string>> {
  const digests = new Map<string, string>();
  for (const name of names) digests.set(name, await digestOf(name, registry));
  return digests;
}

async function digestOf(name: string, registry: string): Promise<string> {
  const [repository = '', tag = 'latest'] = name.split(':');
  const path = repository.includes('/') ? repository : `library/${repository}`;
  const address = `${registry}/v2/${path}/manifests/${tag}`;
  const ask = (headers: Record<string, string> = {}): Promise<Response> =>
    fetch(address, {
      method: 'HEAD',
      headers: { accept: ACCEPT, ...headers },
      signal: AbortSignal.timeout(PATIENCE_MILLISECONDS),
    }).catch(() => {
      throw new Error(`${new URL(registry).host} cannot be reached for ${name}`);
    });
  let answer = await ask();
  if (answer.status === 401) {
    answer = await ask({ authorization: `Bearer ${await tokenFor(answer, name)}` });
  }
  const digest = answer.headers.get('docker-content-digest') ?? '';
  if (!answer.ok || !/^sha256:[0-9a-f]{64}$/.test(digest)) {
    throw new Error(`${new URL(registry).host} answered ${answer.status} without a digest for ${name}`);
  }
  return digest;
}

/** A token to read with, from where the registry says that there is one. */
async function tokenFor(refusal: Response, name: string): Promise<string> {
  const challenge = refusal.headers.get('www-authenticate') ?? '';
  const { realm, ...query } = Object.fromEntries(
    [...challenge.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = '', value = '']) => [key, value]),
  );
  if (realm === undefined) throw new Error(`the registry does not say where a token for ${name} is had`);
  const answer = await fetch(`${realm}?${new URLSearchParams(query).toString()}`, {
    signal: AbortSignal.timeout(PATIENCE_MILLISECONDS),
  }).catch(() => {
    throw new Error(`${new URL(realm).host} cannot be reached for ${name}`);
  });
  const { token } = (await answer.json()) as { token?: string };
  if (token === undefined) throw new Error(`${new URL(realm).host} gave no token for ${name}`);
  return token;
}

/** Which of the images no digest pins in a second compose file, as `pinFile` writes it; all of them without one. */
export function unpinned({ all }: ImageNames, pins: string | undefined): string[] {
  return all.filter((name) => !pins?.includes(`${name}@sha256:`));
}

/** A second compose file, which names each image by its digest; those that ours is built from as contexts of its build. */
export function pinFile(
  { services, builder, bases }: ImageNames,
  digests: ReadonlyMap<string, string>,
): string {
  const pinned = (name: string): string => `${name}@${digests.get(name)}`;
  const contexts = bases.map((name) => [name, `docker-image://${pinned(name)}`]);
  const written = stringify({
    services: {
      ...Object.fromEntries(
        Object.entries(services).map(([service, name]) => [service, { image: pinned(name) }]),
      ),
      [builder]: { build: { additional_contexts: Object.fromEntries(contexts) } },
    },
  });
  return `# Written by \`npm run images:pin\`: what the names of docker-compose.temporal.yml stood for that day.\n${written}`;
}

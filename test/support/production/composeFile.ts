import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const CHECKOUT = join(import.meta.dirname, '../../..');

/** A service of the compose file, as far as tests look at it. */
export interface ComposeService {
  image?: string;
  build?: string;
  command?: string[];
  entrypoint?: string[];
  environment?: Record<string, string>;
  secrets?: string[];
  networks?: string[];
  ports?: string[];
  profiles?: string[];
  volumes?: string[];
  healthcheck?: { test?: string[]; disable?: boolean };
  stop_grace_period?: string;
  restart?: string;
  depends_on?: Record<string, { condition: string }>;
  read_only?: boolean;
  tmpfs?: string[];
  cap_drop?: string[];
  security_opt?: string[];
  deploy?: { replicas?: number; resources?: { limits?: { memory?: string } } };
}

export interface ComposeFile {
  services: Record<string, ComposeService>;
  secrets: Record<string, { file: string }>;
  configs: Record<string, { content: string }>;
  networks: Record<string, { internal?: boolean } | null>;
}

/** The text of `docker-compose.temporal.yml`. */
export const composeText = (): string => readFileSync(join(CHECKOUT, 'docker-compose.temporal.yml'), 'utf8');

/** `docker-compose.temporal.yml` with its merges done, its `${…}` as they stand. */
export const readCompose = (text = composeText()): ComposeFile => parse(text, { merge: true }) as ComposeFile;

/** The shell script that a service runs, as it reaches the shell: `$$` is how the file writes `$`. */
export function scriptOf({ entrypoint, command }: ComposeService): string {
  if (entrypoint?.[0] !== '/bin/sh' || command?.length !== 1) throw new Error('the service runs no script');
  return String(command[0]).replaceAll('$$', '$');
}

/** The variables of an env file, by name. */
export function readEnvFile(path: string): Record<string, string> {
  const lines = readFileSync(join(CHECKOUT, path), 'utf8').split('\n');
  return Object.fromEntries(
    lines
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
}

import * as z from 'zod';
import type { AuthorityRuts } from '../commands/addAuthorityCertificates.ts';
import type { FetchExchangeRateDeps } from '../commands/rates.ts';
import type { SkipNumbersDeps } from '../commands/skipNumbers.ts';
import type { CommandDeps } from '../commands/steps/deps.ts';
import type { SupportCfeDeps } from '../commands/supportCfe.ts';
import type { ApiKeys } from '../crypto/apiKeys.ts';
import type { CertificateAuthorities } from '../crypto/certificateAuthorities.ts';
import type { RequestHash } from '../crypto/requestHash.ts';
import type { Opener, Sealer } from '../crypto/sealed.ts';
import type { RegistryRecord } from '../domain/registryRecord.ts';

/** What every verb gets. */
export interface CliDeps extends CommandDeps {
  /** The authority's own RUT in each environment. */
  readonly authorityRuts: AuthorityRuts;
  /** Reads the file at a path that a person gave. Refuses one that cannot be read (INVALID_INPUT). */
  readonly readFile: (path: string) => string;
  /** The same, byte for byte; `-` is standard input in both. */
  readonly readBytes: (path: string) => Buffer;
  /** Makes API keys; throws ConfigurationError where their pepper is not configured. */
  readonly apiKeys: () => ApiKeys;
  /** Asks the workflow of a CFE for a support action; throws ConfigurationError where Temporal is not configured. */
  readonly askSupport: SupportCfeDeps['askSupport'];
  /** The same for a CFE that was rejected for E06 alone. */
  readonly askRejected: SupportCfeDeps['askRejected'];
  /** Asks the authority about a number; throws ConfigurationError where it is not configured. */
  readonly askAuthority: () => SkipNumbersDeps['askAuthority'];
  /** Finds out what is known of rates; throws ConfigurationError where the central bank is not configured. */
  readonly lookUpRates: () => FetchExchangeRateDeps['lookUpRates'];
  /** Seals secrets; throws ConfigurationError where the sealing key is not configured. */
  readonly sealer: () => Sealer;
  /** Opens secrets and seals them anew; throws ConfigurationError where the key-encryption keys are not configured. */
  readonly opener: () => Opener;
  /** Who may certify enterprises; throws ConfigurationError where the file that tells is not usable. */
  readonly certificateAuthorities: () => CertificateAuthorities;
  /** Keyed hashes of logins; throws ConfigurationError where their pepper is not configured. */
  readonly requestHash: () => RequestHash;
  /** Base of the addresses at which plans are paid. */
  readonly checkoutUrl: () => string;
  /** Asks the authority's registry; null for a RUT that it does not know. Throws ConfigurationError where that is not configured. */
  readonly lookUpRut: (rut: string) => Promise<RegistryRecord | null>;
  /** Where the console is, without a slash at its end. */
  readonly consoleUrl: () => string;
  /** Whether receivers of webhooks on this machine are allowed: in development only. */
  readonly localReceivers: boolean;
  /** The public address of the API, without a slash at its end. */
  readonly publicUrl: () => string;
}

/** A row of an answer by field: strings, numbers, null for what is not there. */
export type Row = Readonly<Record<string, unknown>>;

/** A verb as the command line sees it, whatever its input is. */
export interface Verb {
  readonly name: string;
  readonly summary: string;
  /** It only tells. Every other verb acts, and is told who does: `--by`. */
  readonly reads?: true;
  /** What it takes, by name, each with its description for the help. */
  readonly takes: z.ZodObject;
  /** The names of those that are arguments, in order; the others are options. */
  readonly args: readonly string[];
  /** Arguments that may be given as options instead. */
  readonly argsOrOptions?: readonly string[];
  /** Whole examples: what follows group and verb. */
  readonly examples: readonly string[];
  /** Fields that the table for people shows, with spaces between them; all by default. */
  readonly columns?: string;
  /** The field that people get as it is, instead of a table. */
  readonly plain?: string;
  /** Whether the rows say that all is well; where they do not, the exit code is that of a refusal. */
  readonly isWell?: (rows: readonly Row[]) => boolean;
  /** What is wrong with arguments and options, as they were typed, that are right one by one; undefined when nothing is. */
  usageFault?(input: Readonly<Record<string, unknown>>): string | undefined;
  /** Returns a row or an array of rows. */
  run(deps: CliDeps, input: unknown): Promise<Row | readonly Row[]>;
}

/** The verbs on one kind of thing. */
export interface Group {
  readonly name: string;
  readonly summary: string;
  readonly verbs: readonly Verb[];
}

type VerbBody = Omit<Verb, 'name' | 'args'>;

interface Definition<S extends z.ZodRawShape>
  extends Omit<VerbBody, 'reads' | 'takes' | 'run' | 'examples' | 'argsOrOptions'> {
  readonly takes?: S;
  readonly argsOrOptions?: readonly (keyof S & string)[];
  readonly examples?: readonly string[];
  run(deps: CliDeps, input: z.output<z.ZodObject<S, z.core.$strict>>): Promise<Row | readonly Row[]>;
}

/** A verb that changes something: whoever calls it says who acts. */
export function act<S extends z.ZodRawShape>({
  takes,
  examples = ['', '--json'],
  ...verb
}: Definition<S>): VerbBody {
  return { ...verb, examples, takes: z.strictObject(takes ?? {}) };
}

/** A verb that only tells. */
export const query = <S extends z.ZodRawShape>(verb: Definition<S>): VerbBody => ({
  ...act(verb),
  reads: true,
});

/** A group of verbs, each under its name and the names of its arguments: `show RUT`. */
export const group = (name: string, summary: string, verbs: Readonly<Record<string, VerbBody>>): Group => ({
  name,
  summary,
  verbs: Object.entries(verbs).map(([usage, verb]) => {
    const [verbName = '', ...args] = usage.split(' ');
    return { ...verb, name: verbName, args: args.map((arg) => arg.toLowerCase()) };
  }),
});

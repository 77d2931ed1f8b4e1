import * as z from 'zod';
import type { AuthorityRuts } from '../commands/authority/addAuthorityCertificates.ts';
import type { AuthorityTestKit } from '../commands/enterprises/equipSandbox.ts';
import type { SkipNumbersDeps } from '../commands/numbers/skipNumbers.ts';
import type { SupportCfeDeps } from '../commands/operations/supportCfe.ts';
import type { IssueDeps } from '../commands/receipts/issueCfe.ts';
import type { FetchExchangeRateDeps } from '../commands/receipts/rates.ts';
import type { SignProviderReport } from '../commands/reports/providerReport.ts';
import type { ApiKeys } from '../crypto/apiKeys.ts';
import type { CertificateAuthorities } from '../crypto/certificateAuthorities.ts';
import type { RequestHash } from '../crypto/requestHash.ts';
import type { LookUpRevocation } from '../crypto/revocation.ts';
import type { Opener, Sealer } from '../crypto/sealed.ts';
import type { DrawSheet, SoftwareProvider } from '../domain/enterprises/application.ts';
import type { RegistryRecord } from '../domain/enterprises/registryRecord.ts';

/** Dependencies of every verb. */
export interface CliDeps extends IssueDeps {
  /** The RUT of the authority in each environment. */
  readonly authorityRuts: AuthorityRuts;
  /** Reads a file, or standard input for `-`. Throws INVALID_INPUT if it is unreadable. */
  readonly readFile: (path: string) => string;
  /** Reads the bytes of a file, or of standard input for `-`. Throws INVALID_INPUT if it is unreadable. */
  readonly readBytes: (path: string) => Buffer;
  /** Creates API keys; throws ConfigurationError without a configured pepper. */
  readonly apiKeys: () => ApiKeys;
  /** Asks the workflow of a CFE for a support action; throws ConfigurationError when Temporal is not configured. */
  readonly askSupport: SupportCfeDeps['askSupport'];
  /** Does the same as `askSupport`, for a CFE that was rejected only for E06. */
  readonly askRejected: SupportCfeDeps['askRejected'];
  /** Queries the authority about a number; throws ConfigurationError when it is not configured. */
  readonly askAuthority: () => SkipNumbersDeps['askAuthority'];
  /** Returns the known exchange rates; throws ConfigurationError when the central bank is not configured. */
  readonly lookUpRates: () => FetchExchangeRateDeps['lookUpRates'];
  /** Encrypts secrets; throws ConfigurationError without a configured key. */
  readonly sealer: () => Sealer;
  /** Decrypts and re-encrypts secrets; throws ConfigurationError without configured keys. */
  readonly opener: () => Opener;
  /** The authorities that certify enterprises; throws ConfigurationError when their file is unusable. */
  readonly certificateAuthorities: () => CertificateAuthorities;
  /** Asks whether certificates are revoked. */
  readonly lookUpRevocation: LookUpRevocation;
  /** Writes a file. Throws INVALID_INPUT if it cannot. */
  readonly writeFile: (path: string, bytes: Uint8Array) => void;
  /** The operator of the service, as in its declarations. */
  readonly provider: () => SoftwareProvider;
  /** Signs the operator’s reports; throws ConfigurationError without a usable certificate. */
  readonly signProviderReport: () => Promise<SignProviderReport>;
  /** Draws the sheet of the postulación as a PDF. */
  readonly drawSheet: DrawSheet;
  /** The source of sandbox credentials; null without one. */
  readonly testKit: () => AuthorityTestKit | null;
  /** Hashes requests with a key; throws ConfigurationError without a configured pepper. */
  readonly requestHash: () => RequestHash;
  /** Base URL of the pages where plans are paid. */
  readonly checkoutUrl: () => string;
  /** Queries the authority's registry; null for an unknown RUT. Throws ConfigurationError when it is not configured. */
  readonly lookUpRut: (rut: string) => Promise<RegistryRecord | null>;
  /** The console's URL, without a trailing slash. */
  readonly consoleUrl: () => string;
  /** Whether webhook receivers on this machine are allowed: in development only. */
  readonly localReceivers: boolean;
  /** The public URL of the API, without a trailing slash. */
  readonly publicUrl: () => string;
}

/** Adds what the sandbox needs to obtain credentials. */
export const equippedDeps = (deps: CliDeps) => ({
  ...deps,
  testKit: deps.testKit(),
  sealer: deps.sealer(),
  certificateAuthorities: deps.certificateAuthorities(),
});

/** A row of an answer: values by field, null for an empty one. */
export type OutputRow = Readonly<Record<string, unknown>>;

/** A verb, whatever the type of its input. */
export interface Verb {
  readonly name: string;
  readonly summary: string;
  /** Whether the verb only reads. All other verbs accept `--by`. */
  readonly reads?: true;
  /** Inputs by name, with their descriptions for the help. */
  readonly takes: z.ZodObject;
  /** The names of positional arguments, in order; all other inputs are options. */
  readonly args: readonly string[];
  /** Arguments that may be given as options instead. */
  readonly argsOrOptions?: readonly string[];
  /** Complete examples: the text after group and verb. */
  readonly examples: readonly string[];
  /** Fields in the table for people, separated by spaces; all by default. */
  readonly columns?: string;
  /** The field printed unformatted instead of a table. */
  readonly plain?: string;
  /** Returns whether the rows show no problem; a problem exits with the code of a refusal. */
  readonly isWell?: (rows: readonly OutputRow[]) => boolean;
  /** Describes a wrong combination of typed inputs; undefined for a right one. */
  usageFault?(input: Readonly<Record<string, unknown>>): string | undefined;
  /** Returns a row or an array of rows. */
  run(deps: CliDeps, input: unknown): Promise<OutputRow | readonly OutputRow[]>;
}

/** The verbs on one kind of object. */
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
  run(
    deps: CliDeps,
    input: z.output<z.ZodObject<S, z.core.$strict>>,
  ): Promise<OutputRow | readonly OutputRow[]>;
}

/** Defines a verb that changes data; its caller is audited. */
export function actingVerb<S extends z.ZodRawShape>({
  takes,
  examples = ['', '--json'],
  ...verb
}: Definition<S>): VerbBody {
  return { ...verb, examples, takes: z.strictObject(takes ?? {}) };
}

/** Defines a verb that only reads. */
export const readVerb = <S extends z.ZodRawShape>(verb: Definition<S>): VerbBody => ({
  ...actingVerb(verb),
  reads: true,
});

/** Defines a group of verbs, by name and arguments such as `show RUT`. */
export const verbGroup = (
  name: string,
  summary: string,
  verbs: Readonly<Record<string, VerbBody>>,
): Group => ({
  name,
  summary,
  verbs: Object.entries(verbs).map(([usage, verb]) => {
    const [verbName = '', ...args] = usage.split(' ');
    return { ...verb, name: verbName, args: args.map((arg) => arg.toLowerCase()) };
  }),
});

import type * as z from 'zod';
import type { FetchExchangeRateDeps } from '../commands/fetchExchangeRate.ts';
import type { SkipNumbersDeps } from '../commands/skipNumbers.ts';
import type { CommandDeps } from '../commands/steps/deps.ts';
import type { SupportCfeDeps } from '../commands/supportCfe.ts';
import type { ApiKeys } from '../crypto/apiKeys.ts';
import type { CertificateAuthorities } from '../crypto/certificateAuthorities.ts';
import type { RequestHash } from '../crypto/requestHash.ts';
import type { Opener, Sealer } from '../crypto/sealed.ts';
import type { AuthorityRuts } from '../db/authorityCertificates.ts';
import type { BranchFacts } from '../db/branches.ts';
import type { WaitedFor } from '../db/dailyReports.ts';
import type { Cfe } from '../db/entities/Cfe.ts';
import type { Customer } from '../db/entities/Customer.ts';
import type { DailyReport } from '../db/entities/DailyReport.ts';
import type { ReportSubmission } from '../db/entities/ReportSubmission.ts';

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
  readonly ratesFor: () => FetchExchangeRateDeps['ratesFor'];
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
  readonly lookUpRut: (rut: string) => Promise<Row | null>;
  /** Where the console is, without a slash at its end. */
  readonly consoleUrl: () => string;
  /** Whether receivers of webhooks on this machine are allowed: in development only. */
  readonly localReceivers: boolean;
  /** The CFE object as the API tells it. */
  readonly cfeObject: (cfe: Cfe) => Row;
  /** Branches and customers as the API tells them. */
  readonly branchObject: (branch: BranchFacts & { branch: number; closedAt?: Date | null }) => Row;
  readonly customerObject: (customer: Customer) => Row;
  /** A daily report as the API tells it, with its submissions and what it waits for. */
  readonly reportObject: (
    report: DailyReport,
    submissions: readonly ReportSubmission[],
    waiting: readonly WaitedFor[],
  ) => Row;
}

/** A row of an answer by field: strings, numbers, null for what is not there. */
export type Row = Readonly<Record<string, unknown>>;

/** An option of a verb; its value reaches the verb by its name in camel case. */
export interface OptionRow {
  /** `--per-hour <n>` takes a value, `--developer` is there or not. */
  readonly flags: `--${string}`;
  readonly about: string;
  readonly required?: true;
  /** The allowed values. */
  readonly choices?: readonly string[];
  /** A whole number within these bounds, inclusive. */
  readonly wholeNumber?: readonly [minimum: number, maximum: number];
}

/** A verb as the command line sees it, whatever its input is. */
export interface Verb {
  readonly name: string;
  readonly summary: string;
  /** It only tells. Every other verb acts, and is told who does: `--by`. */
  readonly reads?: true;
  /** The arguments in order, each with what it is: `{ ACCOUNT: 'id of the account' }`; `[CFE_ID]` is optional. */
  readonly args: Readonly<Record<string, string>>;
  readonly options: readonly OptionRow[];
  /** Whole examples: what follows group and verb. */
  readonly examples: readonly string[];
  /** Fields that the table for people shows; all by default. */
  readonly columns?: readonly string[];
  /** The field that people get as it is, instead of a table. */
  readonly plain?: string;
  /** Whether the rows say that all is well; where they do not, the exit code is that of a refusal. */
  readonly isWell?: (rows: readonly Row[]) => boolean;
  /** Arguments (by their names in lower case) and options together. */
  readonly input: z.ZodType;
  /** What is wrong with arguments and options that are right one by one; undefined when nothing is. */
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

interface Definition<I extends z.ZodType> extends Omit<Verb, 'input' | 'run' | 'args' | 'options'> {
  readonly args?: Verb['args'];
  readonly options?: Verb['options'];
  readonly input: I;
  run(deps: CliDeps, input: z.output<I>): Promise<Row | readonly Row[]>;
}

/** A verb whose `run` is typed by its schema. */
export function defineVerb<I extends z.ZodType>({ args = {}, options = [], ...verb }: Definition<I>): Verb {
  return { args, options, ...verb };
}

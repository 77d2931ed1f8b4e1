/**
 * The variables of a process, read once, checked and frozen: the only file of `src/` that reads
 * `process.env`. Each variable is a row: how it is read, what it may hold, its purpose. `.env.example` is
 * made from these rows and those of the local stack (local/config.ts).
 */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { MOST_CFES } from './domain/authority/sobre.ts';
import { USUAL_CAPS } from './domain/people/caps.ts';
import { Email } from './domain/values/email.ts';

interface Variable<T> {
  readonly schema: z.ZodType<T, string>;
  /** What it may hold, in words; ends the sentence "it must be …". */
  readonly mayHold: string;
  readonly purpose: string;
  /** The default; without one the variable is required by the programs that read it. */
  readonly fallback?: string;
  /** Never shown, not even in an error message; may come from a file named by `<NAME>_FILE`. */
  readonly secret?: true;
  /** An address that may use `http:` in development only (CFE_DEVELOPMENT). */
  readonly httpsOnly?: true;
}

export const variable = <T>(row: Variable<T>): Variable<T> => row;

export const nonEmptyText = z.string().min(1);
export const portVariable = (fallback: string, purpose: string) =>
  variable({
    schema: z
      .string()
      .regex(/^\d{1,5}$/)
      .transform(Number)
      .refine((n) => n <= 65_535),
    mayHold: 'a port number, 0 to 65535 (0: any free port)',
    purpose,
    fallback,
  });
export const urlVariable = (purpose: string, fallback?: string) =>
  variable({
    schema: z.url({ protocol: /^https?$/ }),
    mayHold: 'an http or https address',
    purpose,
    ...(fallback === undefined ? {} : { fallback }),
  });
/** An address that receives logins, certificates, CAEs or receipts. */
const httpsUrl = (purpose: string, fallback?: string) =>
  variable({
    ...urlVariable(purpose, fallback),
    mayHold: 'an https address; in development (CFE_DEVELOPMENT) http, too',
    httpsOnly: true,
  });
const rut = (fallback: string, purpose: string) =>
  variable({ schema: z.string().regex(/^\d{12}$/), mayHold: '12 digits', purpose, fallback });
const perSecond = (fallback: string, purpose: string) =>
  variable({
    schema: z
      .string()
      .regex(/^\d+(\.\d+)?$/)
      .transform(Number)
      .refine((n) => n > 0 && n <= 1_000),
    mayHold: 'a number above 0, at most 1000',
    purpose,
    fallback,
  });
const seconds = (fallback: string, purpose: string) =>
  variable({
    schema: z
      .string()
      .regex(/^\d+(\.\d+)?$/)
      .transform(Number)
      .refine((n) => n > 0),
    mayHold: 'a number of seconds above 0',
    purpose,
    fallback,
  });
const cap = (fallback: number, purpose: string) =>
  variable({
    schema: z
      .string()
      .regex(/^[1-9]\d{0,6}$/)
      .transform(Number),
    mayHold: 'an integer from 1 to 9999999',
    purpose,
    fallback: String(fallback),
  });
/** PostgreSQL and Node count time-outs in 31 bits of milliseconds. */
const LONGEST_TIMEOUT_SECONDS = 86_400;
const timeout = (fallback: string, purpose: string) =>
  variable({
    schema: z
      .string()
      .regex(/^\d+(\.\d+)?$/)
      .transform(Number)
      .refine((n) => n > 0 && n <= LONGEST_TIMEOUT_SECONDS),
    mayHold: `a number of seconds above 0, at most ${LONGEST_TIMEOUT_SECONDS}`,
    purpose,
    fallback,
  });
const days = (fallback: string, least: number, purpose: string) =>
  variable({
    schema: z
      .string()
      .regex(/^\d{1,5}$/)
      .transform(Number)
      .refine((n) => n >= least),
    mayHold: `a whole number of days, at least ${least}`,
    purpose,
    fallback,
  });
const hashAlgorithm = (fallback: 'sha1' | 'sha256', purpose: string) =>
  variable({ schema: z.enum(['sha1', 'sha256']), mayHold: 'sha1 or sha256', purpose, fallback });

/** Host names of this machine. */
const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/;

const UNITS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;
const duration = (fallback: string, purpose: string) =>
  variable({
    schema: z
      .string()
      .regex(/^\d+[smhd]$/)
      .transform((value) => Number(value.slice(0, -1)) * UNITS[value.slice(-1) as keyof typeof UNITS]),
    mayHold: `a number with a unit s, m, h or d, such as ${fallback}`,
    purpose,
    fallback,
  });
const timeOfDay = (fallback: string, purpose: string) =>
  variable({
    schema: z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/),
    mayHold: 'a time of day, HH:MM',
    purpose,
    fallback,
  });

/** The id of a key, which is stored with the data made with it. */
const KEY_ID = /^[a-z0-9-]{1,20}$/;
/** A key of 32 bytes in base64. */
const key32 = z
  .string()
  .regex(/^[A-Za-z0-9+/]{43}=$/)
  .transform((value) => Buffer.from(value, 'base64'));

/** The private half of a pair with its id: `id:x25519-private:key`. */
const openingKey = z
  .tuple([z.string().regex(KEY_ID), z.literal('x25519-private'), key32])
  .transform(([id, , key]) => ({ id, key }));

const peppers = (purpose: string) => {
  const pepper = z.tuple([z.string().regex(KEY_ID), key32]).transform(([id, key]) => ({ id, key }));
  return variable({
    schema: z
      .string()
      .transform((value) => value.split(',').map((entry) => entry.trim().split(':')))
      .pipe(z.tuple([pepper], pepper))
      .refine((all) => new Set(all.map(({ id }) => id)).size === all.length),
    mayHold:
      'id:key[,…], each key 32 bytes in base64, each id unique; the first makes new values, all verify existing ones',
    purpose,
    secret: true,
  });
};

/** The variables of the service. */
export const VARIABLES = {
  CFE_HOST: variable({
    schema: nonEmptyText,
    mayHold: 'an IP address or host name of this machine',
    purpose: 'the address that servers listen on',
    fallback: '127.0.0.1',
  }),
  CFE_LOG_LEVEL: variable({
    schema: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
    mayHold: 'trace, debug, info, warn, error, fatal or silent',
    purpose: 'the lowest level that is logged',
    fallback: 'info',
  }),
  CFE_API_PORT: portVariable('3000', 'port of the HTTP API'),
  CFE_METRICS_PORT: portVariable('9464', 'port of the metrics of the API'),
  CFE_WORKER_METRICS_PORT: portVariable('9465', 'port of the metrics of the worker'),
  CFE_CONSOLE_PORT: portVariable('3001', 'port of the console'),
  CFE_CONSOLE_METRICS_PORT: portVariable('9466', 'port of the metrics of the console'),

  DATABASE_URL: variable({
    schema: z.url({ protocol: /^postgres(ql)?$/ }),
    mayHold:
      'postgres://user:password@host:port/database, with sslmode, sslrootcert, sslcert and sslkey if need be',
    purpose:
      'the PostgreSQL database, in the role of the program (cfe_api, cfe_console, cfe_worker, cfe_operator), or as its owner where it is migrated; in the clear without sslmode (both: docs/production.md); the local stack starts one of its own when this is not set',
    secret: true,
  }),
  CFE_CORS_ORIGINS: variable({
    schema: z
      .string()
      .transform((value) =>
        value
          .split(',')
          .map((origin) => origin.trim())
          .filter(Boolean),
      )
      .pipe(z.array(z.string().regex(/^https?:\/\/[^/\s]+$/))),
    mayHold: 'origins such as https://console.example, separated by commas, without a trailing slash',
    purpose: 'origins whose pages may call the API from a browser; without any, CORS is off',
    fallback: '',
  }),
  CFE_TRUSTED_PROXIES: variable({
    schema: z
      .string()
      .regex(/^(\d|10)$/)
      .transform(Number),
    mayHold: 'an integer from 0 to 10',
    purpose:
      'how many proxies are between callers and the API or the console, each adding to X-Forwarded-For; 0: the header is ignored',
    fallback: '0',
  }),
  CFE_MOST_WEBHOOKS: cap(USUAL_CAPS.webhooks, 'how many webhooks an account may have'),
  CFE_MOST_API_KEYS: cap(USUAL_CAPS.apiKeys, 'how many API keys an account may have, revoked ones aside'),
  CFE_MOST_CUSTOMERS: cap(USUAL_CAPS.customers, 'how many customers an enterprise may have'),
  CFE_MOST_UNPROVEN_ENTERPRISES: cap(
    USUAL_CAPS.unprovenEnterprises,
    'how many enterprises without a certificate an account may have',
  ),
  CFE_MIGRATE: variable({
    schema: z.enum(['at-start', 'never']),
    mayHold: 'at-start or never',
    purpose:
      'whether programs migrate the database when they start, or refuse to start until a job (npm run migrate) has done so',
    fallback: 'at-start',
  }),
  CFE_DATABASE_POOL: variable({
    schema: z
      .string()
      .regex(/^[1-9]\d{0,2}$/)
      .transform(Number),
    mayHold: 'an integer from 1 to 999',
    purpose: 'the most connections a process opens to PostgreSQL',
    fallback: '20',
  }),
  CFE_DATABASE_COUNTER_POOL: variable({
    schema: z
      .string()
      .regex(/^[1-9]\d{0,2}$/)
      .transform(Number),
    mayHold: 'an integer from 1 to 999',
    purpose: 'the most connections that the API opens beside these, to count requests',
    fallback: '4',
  }),
  CFE_DATABASE_CONNECT_SECONDS: timeout(
    '10',
    'longest wait for a connection to PostgreSQL: for a new one, or for one of the pool to be free',
  ),
  CFE_DATABASE_STATEMENT_SECONDS: timeout(
    '15',
    'longest run of one statement, waiting for locks included; migrations have no limit',
  ),
  CFE_DATABASE_IDLE_TRANSACTION_SECONDS: timeout(
    '60',
    'longest pause between two statements of a transaction',
  ),
  TEMPORAL_ADDRESS: variable({
    schema: z.string().regex(/^[^\s:/]+:\d{1,5}$/),
    mayHold: 'host:port',
    purpose: 'the Temporal server; the local stack starts one of its own when this is not set',
  }),
  TEMPORAL_TLS: variable({
    schema: z.enum(['', 'true', 'false']),
    mayHold: 'true, false, or nothing: true if the settings below need it',
    purpose: 'whether connections to Temporal are encrypted and its certificate checked',
    fallback: '',
  }),
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: variable({
    schema: z.string(),
    mayHold: 'a file with certificates in PEM; empty for those that the system trusts',
    purpose: "certificate authorities of Temporal's server",
    fallback: '',
  }),
  TEMPORAL_TLS_SERVER_NAME: variable({
    schema: z.string(),
    mayHold: 'a host name, or nothing',
    purpose: "the name that the certificate of Temporal's server must have; when not set, the address's host",
    fallback: '',
  }),
  TEMPORAL_TLS_CLIENT_CERT_PATH: variable({
    schema: z.string(),
    mayHold: 'a file with a certificate in PEM, or nothing',
    purpose: 'our client certificate for Temporal (mTLS)',
    fallback: '',
  }),
  TEMPORAL_TLS_CLIENT_KEY_PATH: variable({
    schema: z.string(),
    mayHold: 'a file with a private key in PEM, or nothing',
    purpose: 'the key of that certificate',
    fallback: '',
  }),
  TEMPORAL_API_KEY: variable({
    schema: z.string(),
    mayHold: 'an API key, or nothing',
    purpose: 'our API key for Temporal',
    fallback: '',
    secret: true,
  }),
  TEMPORAL_NAMESPACE: variable({
    schema: nonEmptyText,
    mayHold: 'the name of a Temporal namespace',
    purpose: 'the Temporal namespace',
    fallback: 'default',
  }),
  CFE_CLI_NAME: variable({
    schema: nonEmptyText,
    mayHold: 'the command before a group and a verb',
    purpose: 'the name of the command line in its help',
    fallback: 'npm run -s cfe --',
  }),
  CFE_CLI_BY: variable({
    schema: z.enum(['os-user', 'required']),
    mayHold: 'os-user or required',
    purpose:
      'who acts at the command line, for the audit, without --by: the user of the operating system; `required`, as in the image, where all share one user: --by is mandatory',
    fallback: 'os-user',
  }),
  CFE_WORKFLOW_BUNDLE: variable({
    schema: z.string(),
    mayHold: 'a file that src/main/bundleWorkflows.ts wrote, or nothing',
    purpose: 'the bundled workflows, which the image brings; when not set the worker bundles them itself',
    fallback: '',
  }),

  CFE_KEY_ENCRYPTION_KEYS: variable({
    schema: z
      .string()
      .transform((value) => value.split(',').map((entry) => entry.trim().split(':')))
      .pipe(z.tuple([openingKey], openingKey)),
    mayHold:
      'id:x25519-private:key[,…], each key 32 bytes in base64; all open, and the public half of the first seals',
    purpose:
      'keys that open private keys and passwords at rest: for the worker and the command line, not for the API',
    secret: true,
  }),
  CFE_SEALING_KEY: variable({
    schema: z
      .string()
      .transform((value) => value.trim().split(':'))
      .pipe(z.tuple([z.string().regex(KEY_ID), z.literal('x25519-public'), key32]))
      .transform(([id, , key]) => ({ id, key })),
    mayHold:
      'id:x25519-public:key, 32 bytes in base64: the public half of the first of CFE_KEY_ENCRYPTION_KEYS',
    purpose: 'the key that seals private keys and passwords at rest',
    secret: true,
  }),
  CFE_PEPPER: peppers('keys of the hashes of API keys and of idempotent request bodies'),
  CFE_CONSOLE_PEPPER: peppers(
    "keys of the console's second factors and remembered browsers: for the console alone",
  ),
  CFE_TOKEN_KEYS: variable({
    schema: z
      .string()
      .transform((value, context) => {
        try {
          return JSON.parse(value) as unknown;
        } catch {
          context.addIssue({ code: 'custom', message: 'not JSON' });
          return z.NEVER;
        }
      })
      .pipe(
        z
          .array(
            z.object({
              kty: z.literal('OKP'),
              crv: z.literal('Ed25519'),
              kid: z.string().min(1),
              x: z.string().min(1),
              d: z.string().min(1),
            }),
          )
          .min(1),
      ),
    mayHold: 'a JSON array of private Ed25519 JWKs with kid; the first signs, all verify',
    purpose: 'keys of the access tokens',
    secret: true,
  }),

  CFE_DGI_PRODUCTION_RECEPTION_URL: httpsUrl(
    "the authority's reception service, production",
    'https://efactura.dgi.gub.uy/efactura/ws_efactura',
  ),
  CFE_DGI_PRODUCTION_CONSULTATION_URL: httpsUrl(
    "the authority's consultation service, production",
    'https://efactura.dgi.gub.uy:6440/efactura/ws_consultas',
  ),
  CFE_DGI_PRODUCTION_REGISTRY_URL: httpsUrl(
    "the authority's registry service (eRUT), production",
    'https://efactura.dgi.gub.uy:6475/efactura/ws_personaGetActEmpresarial',
  ),
  CFE_DGI_PRODUCTION_RUT: rut('214844360018', "the authority's own RUT, production"),
  CFE_DGI_SANDBOX_RECEPTION_URL: httpsUrl(
    "the authority's reception service, test environment",
    'https://efactura.dgi.gub.uy:6443/ePrueba/ws_eprueba',
  ),
  CFE_DGI_SANDBOX_CONSULTATION_URL: httpsUrl(
    "the authority's consultation service, test environment",
    'https://efactura.dgi.gub.uy:6460/ePrueba/ws_consultasPrueba',
  ),
  CFE_DGI_SANDBOX_RUT: rut('219999830019', "the authority's own RUT, test environment"),
  CFE_DGI_CONNECT_SECONDS: seconds('10', 'longest wait for a connection to the authority'),
  CFE_DGI_ANSWER_SECONDS: seconds('60', 'longest wait for a whole answer of the authority'),
  CFE_DGI_CFE_HASH: hashAlgorithm('sha256', 'hash of the signatures of CFEs'),
  CFE_DGI_SOAP_HASH: hashAlgorithm('sha1', 'hash of the signatures of SOAP requests'),
  CFE_DGI_CA_FILE: variable({
    schema: z.string(),
    mayHold: 'a file with certificates in PEM; empty for those that Node trusts',
    purpose: "certificate authorities of the authority's servers",
    fallback: '',
  }),
  CFE_CERTIFICATE_CA_FILE: variable({
    schema: nonEmptyText,
    mayHold:
      'a file with certificates in PEM, those of the authorities that issue certificates to companies; or the word any, to accept certificates of any origin',
    purpose: 'who may certify the identity of an enterprise (docs/contract.md#certificate)',
  }),
  CFE_DGI_SENDS_PER_SECOND: perSecond(
    '50',
    'how many sobres per second all workers together may send to each of the authority’s reception services',
  ),
  CFE_DGI_QUESTIONS_PER_SECOND: perSecond(
    '50',
    'how many questions per second all workers together may ask about verdicts, in each environment',
  ),
  CFE_SOBRE_MOST: variable({
    schema: z
      .string()
      .regex(/^[1-9]\d{0,2}$/)
      .transform(Number)
      .refine((n) => n <= MOST_CFES),
    mayHold: `a whole number from 1 to ${MOST_CFES}`,
    purpose: 'how many CFEs that wait share a sobre to the authority at most',
    fallback: '100',
  }),
  CFE_RATES_URL: httpsUrl(
    "the central bank's service of closing rates, without a slash at its end (docs/authority/reports.md#exchange-rates)",
    'https://cotizaciones.bcu.gub.uy/wscotizaciones/servlet',
  ),
  CFE_CREDENTIALS_URL: httpsUrl(
    "the service that checks an enterprise's e-invoicing login; docs/local.md#the-credentials-check has its contract",
  ),
  CFE_SANDBOX_PORTAL_URL: variable({
    schema: z.union([z.literal(''), z.url({ protocol: /^https?$/ })]),
    httpsOnly: true,
    mayHold: 'an https address, in development (CFE_DEVELOPMENT) http, too; or nothing',
    purpose: "the simulator's portal, which gives the sandbox its test certificates and test CAEs",
    fallback: '',
  }),
  CFE_SANDBOX_PAPERS_DIR: variable({
    schema: z.string(),
    mayHold: 'a folder (docs/contract.md#sandbox has its layout), or nothing',
    purpose: "test certificates and test CAEs for the authority's real test environment",
    fallback: '',
  }),
  CFE_SERVICE_CERTIFICATE_FILE: variable({
    schema: z.string(),
    mayHold: 'the path of a .p12, or nothing',
    purpose:
      "the operator's own certificate, which signs look-ups in the registry (eRUT) and the operator's monthly report; without it both are unavailable",
    fallback: '',
  }),
  CFE_SERVICE_CERTIFICATE_PASSWORD: variable({
    schema: z.string(),
    mayHold: 'the password of that file',
    purpose: "password of the operator's own certificate",
    fallback: '',
    secret: true,
  }),
  CFE_PROVIDER_RUT: variable({
    schema: z.string().regex(/^(\d{12})?$/),
    mayHold: '12 digits',
    purpose:
      'named as the software provider in the sheet of the postulación and in the operator’s monthly report; without it a person fills in the sheet, and no report is built',
    fallback: '',
  }),
  CFE_PROVIDER_PRODUCT: variable({
    schema: z.string().regex(/^[A-Za-z0-9]{0,20}$/),
    mayHold: 'letters and digits, at most 20',
    purpose: 'the code of the product (Código de producto) in the operator’s declarations to the authority',
    fallback: '',
  }),
  CFE_PUBLIC_URL: variable({
    ...httpsUrl(
      'where the API is reached from outside, without /v1: receivers open the pages of their receipts below it',
    ),
    schema: z
      .url({ protocol: /^https?$/ })
      .refine((address) => !/[?#]/.test(address))
      .transform((address) => (address.endsWith('/') ? address.slice(0, -1) : address)),
  }),
  CFE_CHECKOUT_URL: urlVariable(
    'the page where plans are paid; the id of the payment is added to its path',
    'http://127.0.0.1:3000/checkout',
  ),
  CFE_SMTP_URL: variable({
    schema: z.union([
      z.literal(''),
      z.url({ protocol: /^smtps?$/ }).refine((address) => new URL(address).hostname !== ''),
    ]),
    mayHold:
      'smtps://user:password@host:port (TLS from the start), smtp://user:password@host:port (STARTTLS; in development, CFE_DEVELOPMENT, also without), or nothing',
    purpose: 'the mail server that takes our e-mails; without one none are sent',
    fallback: '',
    secret: true,
  }),
  CFE_SMTP_CA_FILE: variable({
    schema: z.string(),
    mayHold: 'a file with certificates in PEM, or nothing',
    purpose: 'certificate authorities of the mail server, beside those that Node trusts',
    fallback: '',
  }),
  CFE_MAIL_FROM: variable({
    schema: z.union([z.literal(''), Email]),
    mayHold: 'an e-mail address; needed where CFE_SMTP_URL is set',
    purpose: 'the sender of all e-mails, shown after the name of the enterprise; bounces go there',
    fallback: '',
  }),
  CFE_MAIL_DKIM_SELECTOR: variable({
    schema: z.string().regex(/^([A-Za-z0-9]([A-Za-z0-9.-]{0,61}[A-Za-z0-9])?)?$/),
    mayHold: 'the name of the public key in the DNS, before ._domainkey, or nothing',
    purpose: 'signs e-mails (DKIM) for the domain of CFE_MAIL_FROM; without it the mail server may sign them',
    fallback: '',
  }),
  CFE_MAIL_DKIM_KEY: variable({
    schema: z.string(),
    mayHold: 'a private RSA or Ed25519 key in PEM; needed where CFE_MAIL_DKIM_SELECTOR is set',
    purpose: 'the key of those signatures',
    fallback: '',
    secret: true,
  }),
  CFE_MAIL_SANDBOX_ALLOW: variable({
    schema: z
      .string()
      .transform((value) =>
        value
          .split(',')
          .map((address) => address.trim())
          .filter(Boolean),
      )
      .pipe(z.array(Email)),
    mayHold: 'e-mail addresses, separated by commas, or nothing',
    purpose: 'the only addresses that receipts of the sandbox are mailed to',
    fallback: '',
  }),
  CFE_CONSOLE_URL: variable({
    schema: z
      .url({ protocol: /^https?$/ })
      .transform((value) => new URL(value))
      .refine(({ pathname, search, hash }) => pathname === '/' && search === '' && hash === '')
      .refine(({ protocol, hostname }) => protocol === 'https:' || LOOPBACK.test(hostname))
      .transform(({ origin }) => origin),
    mayHold: 'an https address without a path; on this machine (localhost, 127.0.0.1) http, too',
    purpose:
      'the address of the console, in invitations and for the return from the OpenID provider; with https its cookies are for https only',
  }),
  CFE_OIDC_ISSUER: variable({
    schema: z.union([z.literal(''), z.url({ protocol: /^https?$/ })]),
    mayHold: 'the issuer address of an OpenID provider, by https (in development http, too), or nothing',
    purpose:
      'the OpenID provider by which operators sign in to the console, beside passwords; without it there are only passwords',
    fallback: '',
    httpsOnly: true,
  }),
  CFE_OIDC_CLIENT_ID: variable({
    schema: z.string(),
    mayHold: "the console's client id at that provider",
    purpose: 'the console as a client of the OpenID provider',
    fallback: '',
  }),
  CFE_OIDC_CLIENT_SECRET: variable({
    schema: z.string(),
    mayHold: 'the secret that belongs to that id',
    purpose: 'the secret of the console at the OpenID provider',
    fallback: '',
    secret: true,
  }),
  CFE_OIDC_ROLE_CLAIM: variable({
    schema: z.string().regex(/^[\w.:/-]{1,200}$/),
    mayHold: 'the name of a claim',
    purpose:
      'the claim that holds the role of an operator: VIEWER, SUPPORT or ADMIN, alone or in a list, where the highest counts',
    fallback: 'cfe_role',
  }),
  CFE_TEMPORAL_UI_URL: variable({
    schema: z.union([z.literal(''), z.url({ protocol: /^https?$/ })]),
    mayHold: 'an http or https address, or nothing',
    purpose:
      'the Temporal UI of operators, for links in the console; without it the console has no such links',
    fallback: '',
  }),
  CFE_WEBHOOK_LOCAL_CA_FILE: variable({
    schema: z.string(),
    mayHold: 'a file with certificates in PEM, or nothing',
    purpose:
      'development only: allows webhook receivers on this machine, with certificates from this authority',
    fallback: '',
  }),
  CFE_POLL_LONGEST_SECONDS: seconds('900', 'longest pause between two questions for a verdict'),
  CFE_REPORT_AT: timeOfDay('02:00', 'when, in Montevideo, the reports of past days are started'),
  CFE_REPORT_LATEST: timeOfDay(
    '16:00',
    'until when, on the next working day in Montevideo, a report waits for verdicts and rates; the authority wants it by 18:00',
  ),
  CFE_REPORT_ASK_AFTER: duration(
    '4h',
    'how long after the receipt of a report the authority is first asked for its result',
  ),
  CFE_KEEP_OUTBOX_DAYS: days('7', 1, 'how long messages to workflows are kept after they were dispatched'),
  CFE_KEEP_EVENTS_DAYS: days('90', 30, 'how long events are kept, with their deliveries'),
  CFE_KEEP_ATTEMPTS_DAYS: days(
    '30',
    1,
    'how long the attempts of ended deliveries are kept, with their answers',
  ),
  CFE_KEEP_REPLACED_KEYS_DAYS: days(
    '30',
    1,
    'how long the private key of a replaced certificate is kept; longer while a CFE is to be signed with it',
  ),
  CFE_PATIENCE: duration('72h', 'how long a reachable authority may give no verdict before support is asked'),

  CFE_DEVELOPMENT: variable({
    schema: z.enum(['true', 'false']).transform((value) => value === 'true'),
    mayHold: 'true or false',
    purpose:
      'allows http: towards the authority, its check of logins and the central bank, for simulators; never true with the real authority',
    fallback: 'false',
  }),
  CFE_TEST_MODE: variable({
    schema: z.enum(['true', 'false']).transform((value) => value === 'true'),
    mayHold: 'true or false',
    purpose: 'allows what only tests may do (CFE_FAILPOINTS, CFE_CLOCK_FILE); never true in production',
    fallback: 'false',
  }),
  CFE_CLOCK_FILE: variable({
    schema: z.string(),
    mayHold: 'a file with a whole number of seconds, or nothing',
    purpose:
      'tests only: how far business dates are ahead of the machine, read every second; rejected unless CFE_TEST_MODE is true',
    fallback: '',
  }),
  CFE_FAILPOINTS: variable({
    schema: z
      .string()
      .regex(/^([a-zA-Z.]+(,[a-zA-Z.]+)*)?$/)
      .transform((value) => value.split(',').filter(Boolean)),
    mayHold: 'names from src/failpoints.ts, separated by commas, or nothing',
    purpose: 'tests only: where the process kills itself; rejected unless CFE_TEST_MODE is true',
    fallback: '',
  }),
} as const;

export type VariableName = keyof typeof VARIABLES;
/** The variables of a process, by name. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** The faults of the configuration, one line per variable; to be printed as it is. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** The variables of this process, for programs that start others. */
export const processVariables: Variables = process.env;

/** Returns the name of the variable that names a file with the secret. */
const fileVariable = (name: string): string => `${name}_FILE`;

/**
 * Returns the content of a secret's file without its last newline. Throws ConfigurationError with variable
 * and path, not the content.
 */
function readSecret(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new ConfigurationError(`${fileVariable(name)} names ${path}, which cannot be read (${code})`, {
      cause,
    });
  }
}

/**
 * Returns the text of a variable and the start of a sentence with its source; undefined if unset. Throws
 * ConfigurationError.
 */
function findText(
  name: string,
  row: Variable<unknown>,
  source: Variables,
): { text: string; source: string } | undefined {
  const text = source[name];
  const path = row.secret ? source[fileVariable(name)] : undefined;
  if (text && path) {
    throw new ConfigurationError(`${name} and ${fileVariable(name)} are both set; set one of them`);
  }
  if (path) {
    return { text: readSecret(name, path), source: `${fileVariable(name)} names ${path}, which holds` };
  }
  return text ? { text, source: `${name} holds` } : undefined;
}

/** Returns the checked value of one variable. Throws ConfigurationError. */
function valueOf(name: string, row: Variable<unknown>, source: Variables): unknown {
  const { text, source: from } = findText(name, row, source) ?? { text: undefined, source: name };
  const value = text || row.fallback;
  if (value === undefined) {
    const problem = text === undefined ? `${name} is not set` : `${from} nothing`;
    throw new ConfigurationError(`${problem}; it must be ${row.mayHold} (${row.purpose})`);
  }
  const parsed = row.schema.safeParse(value);
  if (parsed.success && row.httpsOnly && /^http:/i.test(value) && source['CFE_DEVELOPMENT'] !== 'true') {
    throw new ConfigurationError(
      `${from} ${JSON.stringify(value)}; it must be an https address: http is for development, which CFE_DEVELOPMENT=true declares`,
    );
  }
  if (parsed.success) return parsed.data;
  const shown = row.secret ? '[a secret]' : JSON.stringify(value);
  throw new ConfigurationError(`${from} ${shown}; it must be ${row.mayHold}`);
}

/** The rows of variables, by name. */
type Table<Name extends PropertyKey = string> = Readonly<Record<Name, Variable<unknown>>>;
type ValueOf<T> = T extends Variable<infer Value> ? Value : never;

/** The readers of a table of variables. */
interface Configuration<T extends Table<keyof T>> {
  /**
   * Returns the named variables, frozen. Throws ConfigurationError with every wrong or missing variable, its
   * value and what it may hold.
   */
  readonly readConfig: <const N extends keyof T & string>(
    names: readonly N[],
    source?: Variables,
  ) => Readonly<{ [K in N]: ValueOf<T[K]> }>;
  /**
   * Checks every variable that is set, for any program. Throws ConfigurationError with the wrong ones, their
   * values and what they may hold.
   */
  readonly checkVariables: (source: Variables) => void;
  /** Returns whether a variable is set, directly or by its file. */
  readonly isSet: (name: keyof T & string, source?: Variables) => boolean;
}

/** Creates the readers of a table of variables. */
export function createConfiguration<const T extends Table<keyof T>>(table: T): Configuration<T> {
  const readConfig: Configuration<T>['readConfig'] = (names, source = processVariables) => {
    const problems: string[] = [];
    const values: Record<string, unknown> = {};
    for (const name of names) {
      try {
        values[name] = valueOf(name, table[name], source);
      } catch (error) {
        if (!(error instanceof ConfigurationError)) throw error;
        problems.push(error.message);
      }
    }
    if (problems.length > 0) throw new ConfigurationError(problems.join('\n'));
    return Object.freeze(values) as ReturnType<typeof readConfig<(typeof names)[number]>>;
  };
  const isSet: Configuration<T>['isSet'] = (name, source = processVariables) =>
    Boolean(source[name] || (table[name].secret && source[fileVariable(name)]));
  return {
    readConfig,
    isSet,
    checkVariables(source) {
      readConfig(
        (Object.keys(table) as (keyof T & string)[]).filter((name) => isSet(name, source)),
        source,
      );
    },
  };
}

export const { readConfig, isSet } = createConfiguration(VARIABLES);

/** Returns each variable of a table with its purpose and what it may hold, for `.env.example`. */
export const describeVariables = (table: Table): string =>
  Object.entries(table)
    .map(([name, { purpose, mayHold, fallback = '', secret }]) => {
      const orFile = secret ? `; or ${fileVariable(name)}: a file that holds it` : '';
      return `# ${purpose}\n# may hold: ${mayHold}${orFile}\n# ${name}=${fallback}\n`;
    })
    .join('\n');

/** Pages and forms about one enterprise: who may see and do what there, and refusals in words that name the field. */
import * as z from 'zod';
import { findEnterprise } from '../db/enterprises.ts';
import type { Enterprise } from '../db/entities/enterprises.ts';
import { ENTERPRISE_FIELDS } from '../domain/enterpriseFields.ts';
import { Rut } from '../domain/rut.ts';
import { type Fault, Refusal } from '../errors.ts';
import { type Standing, standingAt } from './access.ts';
import { labelsByPath } from './fieldForms.ts';
import {
  acting,
  type ConsoleDeps,
  definePage,
  go,
  routeOf,
  signedIn,
  ToldRefusal,
  type Visit,
} from './page.ts';
import { mayAt, type PageRoute } from './permissions.ts';
import type { Texts } from './texts/index.ts';

export interface AtEnterprise {
  readonly enterprise: Enterprise;
  readonly standing: Standing;
}

/**
 * The enterprise of a page. Of one at which somebody has no role they learn nothing, not even that it is there (NOT_FOUND);
 * where their role there does not do, it is FORBIDDEN.
 */
export async function atEnterprise(
  visit: Visit,
  { orm }: Pick<ConsoleDeps, 'orm'>,
  rut: string,
): Promise<AtEnterprise> {
  const standing = await standingAt(orm, signedIn(visit).viewer, rut);
  const enterprise = standing && (await findEnterprise(orm.em.fork(), rut));
  if (!enterprise) throw new Refusal('NOT_FOUND', 'NOT_FOUND');
  requireRole(visit, standing);
  return { enterprise, standing };
}

/** Refuses the page or form that is asked for where what somebody is at its enterprise does not do (FORBIDDEN). */
export function requireRole(visit: Visit, standing: Standing | null): void {
  if (!mayAt(standing, routeOf(visit))) {
    throw new ToldRefusal('FORBIDDEN', visit.texts.refused.notForRole);
  }
}

/** What a command of somebody's act goes by: the dates of business, and who acts. */
export const onBusinessDays = (deps: ConsoleDeps, visit: Visit): ConsoleDeps =>
  acting({ ...deps, clock: deps.businessClock }, visit);

/** The places of an enterprise's page, by which forms lead back to where they stand. */
export type Section =
  | 'login'
  | 'certificate'
  | 'caes'
  | 'branches'
  | 'data'
  | 'accounts'
  | 'annulments'
  | 'reports'
  | 'acts';

export const enterprisePath = (rut: string, section?: Section): string =>
  `/enterprises/${rut}${section === undefined ? '' : `#${section}`}`;

/** What the paths of its forms name: the enterprise, and of those about a branch its code. */
const Params = z.object({
  rut: Rut,
  branch: z
    .string()
    .regex(/^\d{1,4}$/)
    .optional(),
});

/** A form of an enterprise's page: `act` answers what it did, in words. */
export function enterpriseForm<F extends z.ZodType>(form: {
  name: string;
  route: Extract<PageRoute, `POST /enterprises/{rut}/${string}`>;
  section: Section;
  fields: F;
  fileBytes?: number;
  isSlow?: boolean;
  act(
    request: { at: AtEnterprise; branch: string; form: z.output<F>; visit: Visit },
    deps: ConsoleDeps,
  ): Promise<string>;
  /** In place of a refusal that names no field. */
  refused?(texts: Texts, refusal: Refusal): string | undefined;
}) {
  const { name, route, section, fields, fileBytes, isSlow = false } = form;
  return definePage({
    name,
    route,
    params: Params,
    form: fields,
    isSlow,
    ...(fileBytes === undefined ? {} : { fileBytes }),
    back: ({ params: { rut } }) => enterprisePath(rut, section),
    async handle({ params: { rut, branch = '' }, form: sent, visit }, deps) {
      const at = await atEnterprise(visit, deps, rut);
      const text = await inWords(
        visit,
        () => form.act({ at, branch, form: sent, visit }, onBusinessDays(deps, visit)),
        (refusal) => form.refused?.(visit.texts, refusal),
      );
      return go(enterprisePath(rut, section), { kind: 'done', text });
    },
  });
}

/** Runs `work`, whose refusals become words in the reader's language: each fault with the name of its field. */
async function inWords<T>(
  visit: Visit,
  work: () => Promise<T>,
  words: (refusal: Refusal) => string | undefined,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal) || error instanceof ToldRefusal) throw error;
    const own = words(error);
    if (own !== undefined) throw new ToldRefusal(error.code, own, { cause: error });
    if (error.faults.length === 0) throw error;
    throw new ToldRefusal(error.code, faultsInWords(visit.texts, error.faults), { cause: error });
  }
}

/** At most so many faults fit where a form tells what it did. */
const MOST_TOLD = 4;

function faultsInWords(texts: Texts, faults: readonly Fault[]): string {
  const { enterprises: words } = texts;
  const told = faults.slice(0, MOST_TOLD).map(({ path, code }) => {
    if (Object.hasOwn(words.faults, code)) return words.faults[code as keyof typeof words.faults];
    return fieldFault(texts, fieldNames(texts)[path], code);
  });
  const more = faults.length - told.length;
  return [...told, ...(more > 0 ? [words.more(more)] : [])].join(' ');
}

/** What is wrong with a field, by its name on the page. */
export function fieldFault({ enterprises: words }: Texts, name: string | undefined, code: string): string {
  const known = Object.hasOwn(words.fieldFaults, code);
  const what = known ? words.fieldFaults[code as keyof typeof words.fieldFaults] : words.wrong;
  return `${name ?? words.value}: ${what}.`;
}

/** How the page calls the fields of the API's bodies, by their paths. */
function fieldNames({ enterprises: words }: Texts): Readonly<Record<string, string>> {
  return {
    '/cert_b64': words.file,
    '/password': words.filePassword,
    '/username': words.username,
    '/cae_b64': words.caeFile,
    '/cae_start_number': words.start,
    ...labelsByPath(words, ENTERPRISE_FIELDS),
    '/path/branch': words.branch,
    '/plan_id': words.plan,
    '/frequency_id': words.plan,
    '/scheduled_ready_date': words.startDate,
    '/logo_b64': words.logo,
    '/reason': words.why,
  };
}

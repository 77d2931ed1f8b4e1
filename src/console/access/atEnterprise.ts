/** Shared by pages and forms of one enterprise: role checks, and error messages that name the field. */
import * as z from 'zod';
import { findEnterprise } from '../../db/enterprises/enterprises.ts';
import type { Enterprise } from '../../db/entities/enterprises.ts';
import { ENTERPRISE_FIELDS } from '../../domain/enterprises/enterpriseFields.ts';
import { Rut } from '../../domain/values/rut.ts';
import { type Fault, Refusal } from '../../errors.ts';
import type { Texts } from '../../words/console.ts';
import { labelsByPath } from '../fieldForms.ts';
import {
  type ConsoleDeps,
  definePage,
  go,
  LocalizedRefusal,
  routeOf,
  signedIn,
  type Visit,
  withActor,
} from '../page.ts';
import { type EnterpriseAccess, findAccessAt } from './access.ts';
import { mayAt, type PageRoute } from './permissions.ts';

export interface AtEnterprise {
  readonly enterprise: Enterprise;
  readonly access: EnterpriseAccess;
}

/**
 * Returns the enterprise of a page. Throws NOT_FOUND to a viewer without a role there, to hide that it exists; FORBIDDEN if
 * their role is too low.
 */
export async function requireEnterprise(
  visit: Visit,
  { orm }: Pick<ConsoleDeps, 'orm'>,
  rut: string,
): Promise<AtEnterprise> {
  const access = await findAccessAt(orm, signedIn(visit).viewer, rut);
  const enterprise = access && (await findEnterprise(orm.em.fork(), rut));
  if (!enterprise) throw new Refusal('NOT_FOUND', 'NOT_FOUND');
  requireRole(visit, access);
  return { enterprise, access };
}

/** Throws FORBIDDEN if the role is too low for the requested page or form. */
export function requireRole(visit: Visit, access: EnterpriseAccess | null): void {
  if (!mayAt(access, routeOf(visit))) {
    throw new LocalizedRefusal('FORBIDDEN', visit.texts.refused.notForRole);
  }
}

/** Returns the deps of a command on the business clock, with the signed-in person as its actor. */
export const withBusinessClock = (deps: ConsoleDeps, visit: Visit): ConsoleDeps =>
  withActor({ ...deps, clock: deps.businessClock }, visit);

/** Sections of an enterprise's page; a form leads back to its own. */
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

/** Path parameters of its forms: the enterprise, and the code of a branch. */
const Params = z.object({
  rut: Rut,
  branch: z
    .string()
    .regex(/^\d{1,4}$/)
    .optional(),
});

/** Defines a form of an enterprise's page; `act` returns the message to show. */
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
  /** Returns a message of its own for an error; undefined for the usual one. */
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
      const at = await requireEnterprise(visit, deps, rut);
      const text = await translateErrors(
        visit,
        () => form.act({ at, branch, form: sent, visit }, withBusinessClock(deps, visit)),
        (refusal) => form.refused?.(visit.texts, refusal),
      );
      return go(enterprisePath(rut, section), { kind: 'done', text });
    },
  });
}

/** Runs `work`; translates its errors into the reader's language, each fault with the name of its field. */
async function translateErrors<T>(
  visit: Visit,
  work: () => Promise<T>,
  words: (refusal: Refusal) => string | undefined,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Refusal) || error instanceof LocalizedRefusal) throw error;
    const own = words(error);
    if (own !== undefined) throw new LocalizedRefusal(error.code, own, { cause: error });
    if (error.faults.length === 0) throw error;
    throw new LocalizedRefusal(error.code, describeFaults(visit.texts, error.faults), { cause: error });
  }
}

/** More faults would not fit in the message of a form. */
const MAX_SHOWN_FAULTS = 4;

function describeFaults(texts: Texts, faults: readonly Fault[]): string {
  const { enterprises: words } = texts;
  const shown = faults.slice(0, MAX_SHOWN_FAULTS).map(({ path, code }) => {
    if (Object.hasOwn(words.faults, code)) return words.faults[code as keyof typeof words.faults];
    return fieldFault(texts, fieldNames(texts)[path], code);
  });
  const more = faults.length - shown.length;
  return [...shown, ...(more > 0 ? [words.more(more)] : [])].join(' ');
}

/** Describes a field's fault, with the name of the field on the page. */
export function fieldFault({ enterprises: words }: Texts, name: string | undefined, code: string): string {
  const known = Object.hasOwn(words.fieldFaults, code);
  const what = known ? words.fieldFaults[code as keyof typeof words.fieldFaults] : words.wrong;
  return `${name ?? words.value}: ${what}.`;
}

/** Returns the page's names of the API's fields, by their JSON paths. */
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

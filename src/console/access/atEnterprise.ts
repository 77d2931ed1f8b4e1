/** Shared by pages and forms of one enterprise. */
import { findEnterprise } from '../../db/enterprises/enterprises.ts';
import type { Enterprise } from '../../db/entities/enterprises.ts';
import { Refusal } from '../../errors.ts';
import { type Html, html } from '../../page/html.ts';
import { type Declaration, defineForm, type Fields, type Form, type FormRoute } from '../form.ts';
import { type ConsoleDeps, LocalizedRefusal, routeOf, signedIn, type Visit } from '../page.ts';
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

/** Sections of an enterprise's page; a form leads back to its own. */
export type Section =
  'login' | 'certificate' | 'caes' | 'branches' | 'data' | 'accounts' | 'annulments' | 'reports' | 'acts';

export const enterprisePath = (rut: string, section?: Section): string =>
  `/enterprises/${rut}${section === undefined ? '' : `#${section}`}`;

type EnterpriseRoute = Extract<FormRoute, `POST /enterprises/{rut}/${string}`>;
const rutOf = (params: object): string => ('rut' in params ? String(params.rut) : '');

/** Defines a form of an enterprise's page, which leads back to its section. */
// biome-ignore lint/complexity/noBannedTypes: a form without fields
export const enterpriseForm = <R extends EnterpriseRoute, F extends Fields = {}>(
  section: Section,
  route: R,
  form: Omit<Declaration<R, F, AtEnterprise>, 'find' | 'back' | 'onBusinessClock'>,
): Form<R, F> =>
  defineForm<R, F, AtEnterprise>(route, {
    as: 'folded',
    ...form,
    onBusinessClock: true,
    find: ({ params, visit }, deps) => requireEnterprise(visit, deps, rutOf(params)),
    back: ({ params }) => enterprisePath(rutOf(params), section),
  });

/** Renders a form of an enterprise's page if the viewer may send it. */
export const offerAt = <D>(
  form: {
    readonly route: PageRoute;
    draw(visit: Visit, params: { readonly rut: string }, drawing?: D): Html;
  },
  { enterprise: { rut }, access, visit }: AtEnterprise & { visit: Visit },
  drawing?: D,
): Html => (mayAt(access, form.route) ? form.draw(visit, { rut }, drawing) : html``);

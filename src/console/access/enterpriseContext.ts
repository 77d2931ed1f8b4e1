/** The enterprise of a page or form, and the viewer's role at it. */
import { findEnterprise } from '../../db/enterprises/enterprises.ts';
import type { Enterprise } from '../../db/entities/enterprises.ts';
import { Refusal } from '../../errors.ts';
import { type Html, html } from '../../page/html.ts';
import { type Declaration, defineForm, type Fields, type Form, type FormRoute } from '../form.ts';
import { type ConsoleDeps, LocalizedRefusal, routeOf, signedIn, type Visit } from '../page.ts';
import { type EnterpriseAccess, findAccessAt } from './access.ts';
import { mayUse, type PageRoute } from './permissions.ts';

export interface EnterpriseContext {
  readonly enterprise: Enterprise;
  readonly access: EnterpriseAccess;
}

/**
 * Returns the enterprise of a page. Without a role at it, throws NOT_FOUND, to hide that it exists; with too low a role,
 * FORBIDDEN.
 */
export async function requireEnterprise(
  visit: Visit,
  { orm }: Pick<ConsoleDeps, 'orm'>,
  rut: string,
): Promise<EnterpriseContext> {
  const access = await findAccessAt(orm, signedIn(visit).viewer, rut);
  const enterprise = access && (await findEnterprise(orm.em.fork(), rut));
  if (!enterprise) throw new Refusal('NOT_FOUND', 'NOT_FOUND');
  requireRole(visit, access);
  return { enterprise, access };
}

/** Throws FORBIDDEN if the role is too low for the requested page or form. */
export function requireRole(visit: Visit, access: EnterpriseAccess | null): void {
  if (!mayUse(access, routeOf(visit))) {
    throw new LocalizedRefusal('FORBIDDEN', visit.texts.refused.notForRole);
  }
}

/** Sections of an enterprise's page. */
export type Section =
  'login' | 'certificate' | 'caes' | 'branches' | 'data' | 'accounts' | 'annulments' | 'reports' | 'acts';

export const enterprisePath = (rut: string, section?: Section): string =>
  `/enterprises/${rut}${section === undefined ? '' : `#${section}`}`;

type EnterpriseRoute = Extract<FormRoute, `POST /enterprises/{rut}/${string}`>;
const rutOf = (params: object): string => ('rut' in params ? String(params.rut) : '');

/** Defines a form of an enterprise's page, which returns to its section. */
// biome-ignore lint/complexity/noBannedTypes: a form without fields
export const enterpriseForm = <R extends EnterpriseRoute, F extends Fields = {}>(
  section: Section,
  route: R,
  form: Omit<Declaration<R, F, EnterpriseContext>, 'find' | 'back' | 'onBusinessClock'>,
): Form<R, F> =>
  defineForm<R, F, EnterpriseContext>(route, {
    as: 'folded',
    ...form,
    onBusinessClock: true,
    find: ({ params, visit }, deps) => requireEnterprise(visit, deps, rutOf(params)),
    back: ({ params }) => enterprisePath(rutOf(params), section),
  });

/** Renders a form of an enterprise's page if the viewer may send it. */
export const drawIfAllowed = <D>(
  form: {
    readonly route: PageRoute;
    draw(visit: Visit, params: { readonly rut: string }, drawing?: D): Html;
  },
  { enterprise: { rut }, access, visit }: EnterpriseContext & { visit: Visit },
  drawing?: D,
): Html => (mayUse(access, form.route) ? form.draw(visit, { rut }, drawing) : html``);

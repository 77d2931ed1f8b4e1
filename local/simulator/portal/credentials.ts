import { z } from 'zod';
import { dayInMontevideo } from '../clock.ts';
import { checkLogin, putLogin } from '../state/credentials.ts';
import type { State } from '../state/database.ts';
import { listIssuers, putIssuer } from '../state/directory.ts';
import { environment, read, rut } from './input.ts';
import type { PortalRoute } from './route.ts';

const Login = z.strictObject({
  environment: environment.optional(),
  username: z.string().min(1).max(100).optional(),
  password: z.string().min(1).max(200).optional(),
  permissions: z.array(z.enum(['HOMO', 'PROD'])),
});

/** Sets what the credentials check answers for a company; if omitted, any username or password passes. */
export const putCredentials: PortalRoute = {
  method: 'PUT',
  path: '/portal/credentials/{rut}',
  handle({ path, body }, { state, clock }) {
    const number = read(rut, path['rut'], '/path/rut');
    const { username, password, permissions } = read(Login, body);
    listWithPermission(state, number, permissions.includes('PROD'), clock());
    putLogin(state, number, { username, password, permissions: [...new Set(permissions)] });
    return { status: 200, json: { rut: number, permissions: [...new Set(permissions)] } };
  },
};

/** Lists who may issue in production; the entry ends the day before the permission does. */
function listWithPermission(state: State, number: string, mayIssue: boolean, now: Date): void {
  const [known] = listIssuers(state, { rut: number, name: '', since: '' });
  const today = dayInMontevideo(now);
  const isListed = known !== undefined && (known.until === null || known.until >= today);
  if (mayIssue === isListed) return;
  const entry = known ?? { rut: number, name: `Empresa ${number}`, mail: '', since: today, until: null };
  const yesterday = dayInMontevideo(new Date(now.getTime() - 86_400_000));
  putIssuer(state, { ...entry, until: mayIssue ? null : yesterday }, now.toISOString());
}

const Question = z.strictObject({
  rut,
  username: z.string().max(100).default(''),
  password: z.string().max(200).default(''),
});

/** The credentials check: whether a company's login is valid, and what it permits. Our own interface, not DGI's. */
export const validateCredentials: PortalRoute = {
  method: 'POST',
  path: '/credentials/validate',
  handle({ body }, { state }) {
    const { rut: number, username, password } = read(Question, body);
    const permissions = checkLogin(state, number, username, password);
    return permissions === null
      ? {
          status: 200,
          json: { login: 'failed', permissions: [], message: 'unknown company, username or password' },
        }
      : { status: 200, json: { login: 'success', permissions, message: 'the login is valid' } };
  },
};

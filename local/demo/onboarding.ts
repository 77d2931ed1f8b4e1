import got, { type Got } from 'got';
import type { Customer, EnterpriseView } from './customer.ts';
import type { DemoReceiver } from './receiver.ts';
import { until } from './until.ts';

/** The company of the demo: one of the RUTs that the authority itself uses for trials. */
export const DEMO_RUT = '219000090011';

/** What the demo says of it at its creation. */
export const DEMO_ENTERPRISE = {
  legal_name: 'Almacén Demo SA',
  trade_name: 'Almacén Demo',
  department_name: 'Montevideo',
  locality_name: 'Montevideo',
  street_name: 'Rincón 500',
  branch: 1,
  is_new_enterprise: false,
  phone_number: '29001234',
};
const LOGIN = { username: 'demo', password: 'demo-portal-login' };
const CERTIFICATE_PASSWORD = 'demo-certificate';
/** Types without this many numbers left get a new CAE. */
const NUMBERS_WANTED = 20;

/**
 * Takes a company to READY by the steps of onboarding (docs/contract.md#becoming-ready) over public HTTP; what was done
 * in an earlier run is used as it is.
 */
export async function onboard(
  customer: Customer,
  of: {
    simulatorUrl: string;
    /** The types that need a CAE. */
    typeCodes: readonly number[];
    /** The demo's company unless told. */
    rut?: string;
    /** Where each step is said. */
    say?: (line: string) => void;
    /** Where the result of the credentials check is waited for, as the event that a customer's server gets; without, it is read. */
    receiver?: Pick<DemoReceiver, 'events'>;
  },
): Promise<void> {
  const { simulatorUrl, typeCodes, rut = DEMO_RUT, say = () => {}, receiver } = of;
  const path = `enterprises/${rut}`;
  const portal = got.extend({ prefixUrl: `${simulatorUrl}/portal`, retry: { limit: 0 } });
  const steps = { customer, portal, rut, path, say };

  await register(steps);
  const enterprise = await customer.get<EnterpriseView>(path);
  if (receiver || !enterprise.efactura_metadata.permissions.includes('PROD')) {
    await validateCredentials(steps, receiver);
  }
  if (enterprise.certificate.status !== 'VALID') {
    say('upload a certificate from the portal');
    const body = { rut, legal_name: 'Almacén Demo SA', password: CERTIFICATE_PASSWORD };
    const certificate = await portal.post('certificates', { json: body }).json();
    await customer.send('POST', `${path}/certificate`, certificate);
  }
  if (enterprise.status !== 'READY') {
    say('choose plan and start date');
    await customer.send('PUT', path, {
      plan_id: 'FREE',
      frequency_id: 'MONTHLY',
      scheduled_ready_date: '2026-01-01T00:00:00',
    });
  }
  for (const code of typeCodes) await giveNumbers(steps, enterprise, code);
  await until('READY', 120, async () => {
    const { status } = await customer.get<EnterpriseView>(path);
    return status === 'READY';
  });
  say('the enterprise is READY');
}

/** Has the login checked while the authority grants these permissions. */
export async function enterByLogin(
  customer: Customer,
  of: { simulatorUrl: string; rut: string; permissions: readonly string[]; say: (line: string) => void },
): Promise<void> {
  const { simulatorUrl, rut, permissions, say } = of;
  const portal = got.extend({ prefixUrl: `${simulatorUrl}/portal`, retry: { limit: 0 } });
  const path = `enterprises/${rut}`;
  await validateCredentials({ customer, portal, rut, path, say }, undefined, permissions);
}

/** What each step works with. */
interface Steps {
  customer: Customer;
  /** The simulator's portal. */
  portal: Got;
  rut: string;
  path: string;
  say: (line: string) => void;
}

async function register({ customer, rut, path, say }: Steps): Promise<void> {
  if (await customer.find(path)) return;
  say(`create the enterprise ${rut}`);
  await customer.send('POST', 'enterprises', { rut, ...DEMO_ENTERPRISE });
}

async function validateCredentials(
  { customer, portal, rut, path, say }: Steps,
  receiver: Pick<DemoReceiver, 'events'> | undefined,
  permissions: readonly string[] = ['HOMO', 'PROD'],
): Promise<void> {
  say('validate the e-invoicing credentials');
  await portal.put(`credentials/${rut}`, { json: { ...LOGIN, permissions } });
  await customer.send('POST', `${path}/validate-efactura`, LOGIN);
  const result = await until('the result of the credentials check', 120, () =>
    receiver ? toldResult(receiver, rut) : readResult(customer, path),
  );
  if (result === 'failed') throw new Error('the authority refuses the login of the demo');
  if (receiver) say(`the receiver was told: efactura.login ${result}`);
}

/** Uploads a CAE for a type that has few numbers left. */
async function giveNumbers(
  { customer, portal, rut, path, say }: Steps,
  { caes }: EnterpriseView,
  code: number,
): Promise<void> {
  const numbersLeft = caes
    .filter((cae) => cae.cfe_type_code === String(code) && cae.status === 'OK')
    .reduce((sum, cae) => sum + cae.number_end - cae.last_number, 0);
  if (numbersLeft >= NUMBERS_WANTED) return;
  say(`upload a CAE for type ${code} from the portal`);
  const cae = await portal
    .post('caes', { json: { rut, cfe_type_code: String(code) } })
    .json<{ cae_b64: string; number_start: number }>();
  await customer.send('POST', `${path}/caes`, { cae_b64: cae.cae_b64, cae_start_number: cae.number_start });
}

/** What the receiver was told of the check, once it was. */
async function toldResult(
  { events }: Pick<DemoReceiver, 'events'>,
  rut: string,
): Promise<string | undefined> {
  const told = events.find(({ event, data }) => event === 'efactura.login' && data['enterprise_rut'] === rut);
  return told && String(told.data['status']);
}

/** What can be read of the check, once it has ended. */
async function readResult(customer: Customer, path: string): Promise<string | undefined> {
  const { status } = await customer.get<{ status: string }>(`${path}/efactura-status`);
  return { VALID: 'success', INVALID: 'failed' }[status];
}

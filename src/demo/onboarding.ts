import got from 'got';
import { type Customer, type EnterpriseView, until } from './customer.ts';
import type { DemoReceiver } from './receiver.ts';

/** The company of the demo: one of the RUTs that the authority itself uses for trials. */
export const DEMO_RUT = '219000090011';
const LOGIN = { username: 'demo', password: 'demo-portal-login' };
const CERTIFICATE_PASSWORD = 'demo-certificate';
/** Types without this many numbers left get a new CAE. */
const NUMBERS_WANTED = 20;

/** Where the demo says what it does. */
export type Say = (line: string) => void;

/**
 * Takes the company of the demo, or another of that RUT, to READY by the steps of interface.md 3.5 over public HTTP; what was done in an
 * earlier run is used as it is. `typeCodes`: the types that need a CAE. With a `receiver` the result of the credentials
 * check is waited for there, as the event that a customer's server gets; without, it is read.
 */
export async function onboard(
  customer: Customer,
  simulatorUrl: string,
  typeCodes: readonly number[],
  say: Say,
  receiver?: Pick<DemoReceiver, 'events'>,
  rut = DEMO_RUT,
): Promise<void> {
  const path = `enterprises/${rut}`;
  const portal = got.extend({ prefixUrl: `${simulatorUrl}/portal`, retry: { limit: 0 } });

  if (!(await customer.find(path))) {
    say(`create the enterprise ${rut}`);
    await customer.send('POST', 'enterprises', {
      rut,
      legal_name: 'Almacén Demo SA',
      trade_name: 'Almacén Demo',
      department_name: 'Montevideo',
      locality_name: 'Montevideo',
      street_name: 'Rincón 500',
      branch: 1,
      is_new_enterprise: false,
      phone_number: '29001234',
    });
  }
  const enterprise = await customer.get<EnterpriseView>(path);

  if (receiver || !enterprise.efactura_metadata.permissions.includes('PROD')) {
    say('validate the e-invoicing credentials');
    await portal.put(`credentials/${rut}`, { json: { ...LOGIN, permissions: ['HOMO', 'PROD'] } });
    await customer.send('POST', `${path}/validate-efactura`, LOGIN);
    const result = await until('the result of the credentials check', 30, () =>
      receiver ? toldResult(receiver, rut) : readResult(customer, path),
    );
    if (result === 'failed') throw new Error('the authority refuses the login of the demo');
    if (receiver) say(`the receiver was told: efactura.login ${result}`);
  }

  if (enterprise.certificate.status !== 'VALID') {
    say('upload a certificate from the portal');
    const certificate = await portal
      .post('certificates', {
        json: { rut, legal_name: 'Almacén Demo SA', password: CERTIFICATE_PASSWORD },
      })
      .json();
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

  for (const code of typeCodes) {
    const numbersLeft = enterprise.caes
      .filter((cae) => cae.cfe_type_code === String(code) && cae.status === 'OK')
      .reduce((sum, cae) => sum + cae.number_end - cae.last_number, 0);
    if (numbersLeft >= NUMBERS_WANTED) continue;
    say(`upload a CAE for type ${code} from the portal`);
    const cae = await portal
      .post('caes', { json: { rut, cfe_type_code: String(code) } })
      .json<{ cae_b64: string; number_start: number }>();
    await customer.send('POST', `${path}/caes`, { cae_b64: cae.cae_b64, cae_start_number: cae.number_start });
  }

  await until('READY', 30, async () => {
    const { status } = await customer.get<EnterpriseView>(path);
    return status === 'READY' ? true : undefined;
  });
  say('the enterprise is READY');
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

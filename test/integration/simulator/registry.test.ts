import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SignedXml } from 'xml-crypto';
import { ISSUER_RUT } from '../../support/simulator/aCfe.ts';
import { signEnvelope } from '../../support/simulator/signing.ts';
import {
  aCustomer,
  aSimulator,
  type Customer,
  field,
  fields,
  portal,
  type TestSimulator,
} from '../../support/simulator/world.ts';

let simulator: TestSimulator;
let customer: Customer;
beforeAll(async () => {
  simulator = await aSimulator();
  customer = await aCustomer(simulator.url);
});
afterAll(() => simulator.stop());

const ACTION = 'DGI_Modernizacion_Consolidadoaction/AWS_PERSONAGETACTEMPRESARIAL.Execute';
const envelopeFor = (rut: string): string => {
  const name = 'dgi:WS_PersonaGetActEmpresarial.Execute';
  return signEnvelope(
    `<${name} xmlns:dgi="DGI_Modernizacion_Consolidado"><dgi:Rut>${rut}</dgi:Rut></${name}>`,
    customer.keys,
  );
};
const ask = (rut: string) => customer.post('ws_personaGetActEmpresarial', ACTION, envelopeFor(rut));

const RECORD = {
  legal_name: 'PANADERÍA & CÍA S.R.L.',
  trade_name: 'El Trigal',
  entity_type_code: '7',
  entity_type_description: 'SOCIEDAD DE RESPONSABILIDAD LIMITADA',
  activity_status: 'AA',
  start_date: '2010-05-03',
  business_activities: [
    { activity_code: '1071', activity_name: 'Panadería', start_date: '2010-05-03' },
    { activity_code: '4721', activity_name: 'Venta de alimentos', start_date: null },
  ],
  fiscal_addresses: [{ branch: 1, locality_name: 'MONTEVIDEO', street_name: '18 DE JULIO 1234' }],
};

describe('the registry', () => {
  test('tells what the portal put there, padded with blanks and under a declaration that is no longer true', async () => {
    const put = await portal(simulator.url, 'PUT', `/portal/registry/${ISSUER_RUT}`, RECORD);
    expect([put.status, put.json]).toEqual([200, { rut: ISSUER_RUT, ...RECORD, fault: null }]);

    const { status, payload, envelope } = await ask(ISSUER_RUT);
    expect(status).toBe(200);
    expect(envelope).toContain(
      '<WS_PersonaGetActEmpresarial.ExecuteResponse xmlns="DGI_Modernizacion_Consolidado"><Data>',
    );
    expect(payload).toMatch(
      /^<\?xml version="1.0" encoding="ISO-8859-1"\?><WS_PersonaActEmpresarial xmlns="DGI_Modernizacion_Consolidado">/,
    );
    const names = [
      'RUT',
      'Denominacion',
      'NombreFantasia',
      'TipoEntidad',
      'EstadoActividad',
      'FechaInicioActivdad',
      'Local_Sec_Nro',
      'Loc_Nom',
      'Calle_Nom',
    ];
    expect(names.map((name) => field(payload, name))).toEqual([
      ISSUER_RUT,
      'PANADERÍA &amp; CÍA S.R.L. ',
      '      El Trigal ',
      '     7',
      'AA',
      '2010-05-03',
      '1',
      'MONTEVIDEO',
      '18 DE JULIO 1234 ',
    ]);
    expect([fields(payload, 'GiroCod'), fields(payload, 'GiroFec_Ini')]).toEqual([
      ['1071', '4721'],
      ['2010-05-03', '0000-00-00'],
    ]);
    expect(payload.match(/<Local_Fec_Canc>0000-00-00</)).not.toBeNull();
  });

  test('knows the eight RUTs of the authority’s own test service from the start', async () => {
    expect(field((await ask('219000090011')).payload, 'EstadoActividad')).toBe('AA');
  });

  test.each([
    ['999999999999', '14', 'SOAP-ENV:Client'],
    ['12345678901234', '5', 'SOAP-ENV:Server'],
  ])('answers %s with fault %s', async (rut, code, side) => {
    const { status, envelope } = await ask(rut);
    expect([status, field(envelope, 'faultcode'), field(envelope, 'Codigo')]).toEqual([500, side, code]);
    expect(envelope).toContain('<GenericFault xmlns="http://dgi.gub.uy/faults"><Respuestas><Respuesta>');
  });

  test('answers with the fault that the portal asked for', async () => {
    await portal(simulator.url, 'PUT', '/portal/registry/210465050018', { ...RECORD, fault: 11 });
    const { status, envelope } = await ask('210465050018');
    expect([status, field(envelope, 'Codigo'), field(envelope, 'Detalle')]).toEqual([
      500,
      '11',
      'ACTIVIDAD CANCELADA',
    ]);
  });

  test('refuses a question that was changed after signing, relative namespace or not', async () => {
    const altered = envelopeFor(ISSUER_RUT).replace(`>${ISSUER_RUT}<`, '>219000090011<');
    const { status, envelope } = await customer.post('ws_personaGetActEmpresarial', ACTION, altered);
    expect([status, field(envelope, 'faultstring')]).toEqual([500, 'Digest value mismatch']);
  });

  test('signs its answer too', async () => {
    const { envelope } = await ask(ISSUER_RUT);
    const pem = (await portal(simulator.url, 'GET', '/portal/authority-certificates')).bytes.toString();
    const signature = /<ds:Signature [\s\S]*<\/ds:Signature>/.exec(envelope)?.[0] ?? '';
    const verifier = new SignedXml({
      idMode: 'wssecurity',
      publicCert: pem.slice(0, pem.indexOf('-----END') + 26),
    });
    verifier.loadSignature(signature);
    expect(verifier.checkSignature(envelope)).toBe(true);
  });
});

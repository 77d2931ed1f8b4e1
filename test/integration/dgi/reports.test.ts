import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createDgiClient, type DgiClient } from '../../../src/dgi/client.ts';
import type { SpecialAnswers } from '../../../src/dgi/outcomes.ts';
import {
  ackReport,
  authorityKeys,
  consultationAnswer,
  credentialsOf,
  exception,
  fault,
  fingerprint,
  soapAnswer,
} from '../../support/dgi/answers.ts';
import { answers, aServer, type Behaviour } from '../../support/dgi/aServer.ts';

const ID = 1_234_567_890n;
const XML = '<Reporte xmlns="http://cfe.dgi.gub.uy">]]>&amp;</Reporte>';
const credentials = credentialsOf();
const stranger = authorityKeys({ name: 'stranger' });

let server: Awaited<ReturnType<typeof aServer>>;
let client: DgiClient;
beforeAll(async () => {
  server = await aServer();
  const endpoints = { receptionUrl: server.url, consultationUrl: server.url };
  client = createDgiClient({
    endpoints: { production: endpoints, sandbox: endpoints },
    timeouts: { connectSeconds: 20, answerSeconds: 60 },
    soapHash: 'sha1',
    trustedSigners: async () => new Set([fingerprint(authorityKeys())]),
  });
});
afterAll(() => server.stop());

/** What a result is in a word or two, and the request that led to it. */
async function outcomeOf<T extends { kind: string }>(says: Behaviour, call: () => Promise<T>) {
  server.behaves(says);
  const result: Record<string, unknown> = { ...(await call()) };
  const { kind, reason, status, stuck, reached } = result;
  const more = reason ?? status ?? (stuck as { reason?: string } | undefined)?.reason;
  return [kind, more, reached === false ? 'unreached' : undefined].filter(Boolean).join(' ');
}
const bodyOf = (): string => server.requests.at(-1)?.body ?? '';

describe('a report is sent', () => {
  const document = (xml: string): Behaviour => answers(soapAnswer('EFACRECEPCIONREPORTE', xml));
  const ack = (wishes: Parameters<typeof ackReport>[0] = {}): Behaviour =>
    document(ackReport({ idemisor: ID.toString(), ...wishes }));
  const refused = (...codes: string[]): Behaviour => ack({ state: 'BR', codes });
  const send = () => client.sendReport(credentials, 'production', { idEmisor: ID, xml: XML });

  const special: Readonly<Record<SpecialAnswers['sendReport'], readonly [string, Behaviour]>> = {
    AR: ['received', ack()],
    R01: ['refused report.format', refused('R01')],
    R02: ['refused report.company', refused('R02')],
    R03: ['refused report.signature', refused('R03')],
    R04: ['refused report.content', refused('R04')],
    R05: ['sequence', refused('R05')],
    R06: ['early', refused('R06')],
    BR: ['refused report.unknown_refusal', refused('R77')],
  };
  const others = {
    'R04 beside R05, for it must be mended first': ['refused report.content', refused('R05', 'R04')],
    'BA of the schema': ['refused report.unknown_refusal', ack({ state: 'BA', codes: [] })],
    'AR without a number': ['fateUnknown', document(ackReport({ idemisor: ID.toString(), idReceptor: '' }))],
    'exception 109: it has it': ['duplicate', document(exception(109))],
    'exception 100, inside it': ['fateUnknown', document(exception(100))],
    'exception 101': ['stuck authority.no_permission', document(exception(101))],
    'exception 777': ['stuck authority.unknown_code', document(exception(777))],
    'no answer': ['fateUnknown', (response) => response.destroy()],
    'an error page': ['fateUnknown', answers('<html>error', { status: 503 })],
    'a fault': ['fateUnknown', answers(fault('Internal Error'), { status: 500 })],
    'a fault about our signature': [
      'stuck authority.signature_refused',
      answers(fault('No signature in message!'), { status: 500 }),
    ],
    'an answer about another number': ['fateUnknown', ack({ idemisor: '7' })],
    'an answer about another company': ['fateUnknown', ack({ rut: '219000090011' })],
    'a stranger’s answer': ['stuck authority.untrusted_signer', ack({ keys: stranger })],
    'a changed answer': [
      'fateUnknown',
      document(ackReport({ idemisor: ID.toString() }).replace('>4242<', '>4243<')),
    ],
  } satisfies Record<string, readonly [string, Behaviour]>;

  test.each(
    Object.entries({ ...special, ...others }).map(
      ([answer, [outcome, says]]) => [answer, outcome, says] as const,
    ),
  )('%s: %s', async (_, outcome, says) => {
    expect(await outcomeOf(says, send)).toBe(outcome);
    expect(bodyOf()).toContain('EFACRECEPCIONREPORTE');
  });

  test('goes as text, which holds its bytes', async () => {
    await outcomeOf(ack(), send);
    const carried = /<xmlData>([\s\S]*)<\/xmlData>/.exec(bodyOf())?.[1] ?? '';
    expect(carried.replaceAll(/<!\[CDATA\[|\]\]>/g, '')).toBe(XML);
  });

  test('not after the moment until which it may leave', async () => {
    const asked = server.requests.length;
    const late = { idEmisor: ID, xml: XML, leaveBy: new Date(Date.now() - 1) };
    expect(await outcomeOf(ack(), () => client.sendReport(credentials, 'production', late))).toBe(
      'repeat unreached',
    );
    expect(server.requests).toHaveLength(asked);
  });
});

describe('a report is looked for', () => {
  const row = (state: string, id = ID.toString(), authorityId = '90001'): string =>
    `<DatosReporte><IdEmisor>${id}</IdEmisor><IdReceptor>${authorityId}</IdReceptor><Estado>${state}</Estado>` +
    '<FechaHoraRecepcion>2026-03-11T06:00:00</FechaHoraRecepcion></DatosReporte>';
  const list = (...rows: string[]): Behaviour =>
    answers(
      consultationAnswer(
        'EFACCONSULTARENVIOSREPORTE',
        `<Ackconsultaenviosreporte><ColeccionDatosReporte>${rows.join('')}</ColeccionDatosReporte></Ackconsultaenviosreporte>`,
      ),
    );
  const find = () => client.findReport(credentials, 'production', { idEmisor: ID, date: '2026-03-10' });

  const special: Readonly<Record<SpecialAnswers['findReport'], readonly [string, Behaviour]>> = {
    'listed AR': ['taken RECEIVED', list(row('AR'))],
    'listed DR': ['taken CONSISTENT', list(row('DR'))],
    'listed ER': ['taken DIFFERS', list(row('ER'))],
    'listed FR': ['taken SUPERSEDED', list(row('FR'))],
    'listed BR': ['refused', list(row('BR'))],
    'other state': ['stuck report.unknown_state', list(row('ZZ'))],
    'not listed': ['absent', list(row('AR', '7'))],
  };
  const others = {
    'none of the day': ['absent', list()],
    'a refused repeat beside the one that was taken': ['taken RECEIVED', list(row('BR'), row('AR'))],
    'its number with zeros before it': ['taken RECEIVED', list(row('AR', `0${ID}`))],
    'a row without its number': ['repeat', list('<DatosReporte><Estado>AR</Estado></DatosReporte>')],
    'no list': ['repeat', answers(consultationAnswer('EFACCONSULTARENVIOSREPORTE', '<Otra/>'))],
    'exception 100, inside it': [
      'repeat',
      answers(consultationAnswer('EFACCONSULTARENVIOSREPORTE', exception(100).replace(/^<\?.*?\?>/, ''))),
    ],
    'no answer': ['repeat unreached', (response) => response.destroy()],
  } satisfies Record<string, readonly [string, Behaviour]>;

  test.each(
    Object.entries({ ...special, ...others }).map(
      ([answer, [outcome, says]]) => [answer, outcome, says] as const,
    ),
  )('%s: %s', async (_, outcome, says) => {
    expect(await outcomeOf(says, find)).toBe(outcome);
    expect(bodyOf()).toContain(
      `<Consultaenviosreporte><FechaResumen>2026-03-10</FechaResumen><IdEmisor>${ID}</IdEmisor></Consultaenviosreporte>`,
    );
  });

  test('all of a day, of every system of the company', async () => {
    server.behaves(list(row('FR', '7'), row('BR', '8'), row('AR')));
    const listed = await client.listReports(credentials, 'production', '2026-03-10');
    expect(listed).toEqual({
      kind: 'listed',
      reports: [
        { idEmisor: '7', state: 'FR', authorityId: '90001' },
        { idEmisor: '8', state: 'BR', authorityId: '90001' },
        { idEmisor: ID.toString(), state: 'AR', authorityId: '90001' },
      ],
    });
    expect(bodyOf()).not.toContain('<IdEmisor>');
  });

  test('the answer to one is read once more, with its reasons', async () => {
    const ack = ackReport({ idemisor: ID.toString(), state: 'BR', codes: ['R04'] });
    server.behaves(
      answers(
        consultationAnswer(
          'EFACCONSULTARRESPUESTAREPORTE',
          `<Ackrepdiario><![CDATA[${ack}]]></Ackrepdiario>`,
        ),
      ),
    );
    const read = await client.readReportAnswer(credentials, 'production', {
      idEmisor: ID,
      authorityId: '90001',
    });
    expect(read).toMatchObject({
      kind: 'refused',
      reasons: [{ code: 'R04', message: 'Palabras de R04', detail: 'detalle' }],
      stuck: { reason: 'report.content' },
    });
    expect(bodyOf()).toContain(
      '<Consultarespuestareporte><IdReceptor>90001</IdReceptor></Consultarespuestareporte>',
    );
  });
});

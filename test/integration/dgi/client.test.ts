import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { gzipSync, Unzip } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createDgiClient } from '../../../src/dgi/client.ts';
import {
  ackCfe,
  ackSobre,
  authorityKeys,
  consultationAnswer,
  credentialsOf,
  envelope,
  exception,
  fault,
  fingerprint,
  shipment,
  shipments,
  soapAnswer,
} from '../../support/dgi/answers.ts';
import { answers, aServer } from '../../support/dgi/aServer.ts';
import { sendSobre } from '../../support/dgi/sendSobre.ts';
import { freePort } from '../../support/processes/services.ts';
import { until } from '../../support/until.ts';

const NOW = new Date('2026-03-02T13:10:00Z');
const SOBRE = {
  idemisor: 7n,
  xml: '<?xml version="1.0"?><EnvioCFE xmlns="http://cfe.dgi.gub.uy"><a>]]&gt; ñ</a></EnvioCFE>',
};
const TICKET = { idReceptor: '4242', token: 'dG9rZW4=' };
const RANGE = { idemisor: 7n, from: new Date('2026-03-01T03:00:00Z'), to: new Date('2026-03-03T02:59:59Z') };
const credentials = credentialsOf();
const signer = authorityKeys();

let server: Awaited<ReturnType<typeof aServer>>;
beforeAll(async () => {
  server = await aServer();
});
afterAll(() => server.stop());
beforeEach(() => {
  server.requests.length = 0;
});

function clientAt(url: string, more: { answerSeconds?: number; connectSeconds?: number } = {}) {
  const endpoints = {
    receptionUrl: `${url}/r`,
    consultationUrl: `${url}/c`,
    registryUrl: `${url}/e`,
  };
  return createDgiClient({
    endpoints: { production: endpoints, sandbox: endpoints },
    timeouts: { connectSeconds: more.connectSeconds ?? 2, answerSeconds: more.answerSeconds ?? 5 },
    soapHash: 'sha1',
    trustedSigners: async () => new Set([fingerprint(signer)]),
    clock: () => NOW,
  });
}
const client = () => clientAt(server.url);
const send = () => sendSobre(client(), credentials, 'production', SOBRE);
const ask = () => client().askVerdict(credentials, 'production', TICKET);
const find = () => client().findSobre(credentials, 'production', RANGE);
const findCfe = () => client().findCfe(credentials, 'production', { typeCode: 101, serie: 'A', numero: 12 });
const lookUp = () => client().lookUpRut(credentials, 'production', '219000090011');
const received = (document: string) => server.behaves(answers(soapAnswer('EFACRECEPCIONSOBRE', document)));
const asked = (document: string) => server.behaves(answers(soapAnswer('EFACCONSULTARESTADOENVIO', document)));

describe('sendSobre', () => {
  test('a received sobre comes with what to ask with, its hour read as Montevideo’s', async () => {
    received(ackSobre());
    expect(await send()).toEqual({
      kind: 'received',
      idReceptor: '4242',
      token: 'dG9rZW4=',
      askFrom: new Date('2026-03-02T13:05:00Z'),
    });
  });

  test('the request names its operation in a quoted SOAPAction and carries the sobre byte for byte as text', async () => {
    received(ackSobre());
    await send();
    const [request] = server.requests;
    expect(request?.url).toBe('/r');
    expect(request?.headers.soapaction).toBe('"http://dgi.gub.uyaction/AWS_EFACTURA.EFACRECEPCIONSOBRE"');
    expect(request?.headers['content-type']).toBe('text/xml;charset=UTF-8');
    expect(request?.headers['accept-encoding']).toContain('gzip');
    expect(request?.body).toContain(`<![CDATA[${SOBRE.xml}]]>`);
  });

  test('an hour years ahead is cut to an hour from now: asking too early is harmless, never asking is not', async () => {
    received(
      ackSobre({
        ticket:
          '<ParamConsulta><Token>dA==</Token><Fechahora>2090-01-01T00:00:00</Fechahora></ParamConsulta>',
      }),
    );
    expect(await send()).toMatchObject({ askFrom: new Date('2026-03-02T14:10:00Z') });
  });

  test('what should have left before is not sent any more', async () => {
    received(ackSobre());
    const late = { leaveBy: new Date(NOW.getTime() - 1) };
    expect(await sendSobre(client(), credentials, 'production', SOBRE, late)).toEqual({
      kind: 'repeat',
      description: 'too late',
      reached: false,
    });
    expect(server.requests).toEqual([]);
    const inTime = { leaveBy: NOW };
    expect(await sendSobre(client(), credentials, 'production', SOBRE, inTime)).toMatchObject({
      kind: 'received',
    });
  });

  test('a refused sobre comes with the authority’s own words', async () => {
    received(ackSobre({ state: 'BS', codes: ['S05'] }));
    expect(await send()).toEqual({
      kind: 'refused',
      reasons: [{ code: 'S05', message: 'Palabras de S05', detail: 'detalle' }],
    });
  });

  test('a refusal of what could not be read may lack our number', async () => {
    received(ackSobre({ state: 'BS', codes: ['S01'], idemisor: '0' }));
    expect(await send()).toMatchObject({ kind: 'refused' });
  });

  test.each([
    ['an answer to another shipment', ackSobre({ idemisor: '8' })],
    ['an answer to another company', ackSobre({ rut: '219000090011' })],
  ])('%s does not count', async (_, document) => {
    received(document);
    expect(await send()).toEqual({ kind: 'fateUnknown', description: 'other subject' });
  });

  test('an answer signed with sha256 counts as well', async () => {
    received(ackSobre({ hash: 'sha256' }));
    expect(await send()).toMatchObject({ kind: 'received' });
  });

  test('a changed answer does not count', async () => {
    received(ackSobre().replace('<IDReceptor>4242<', '<IDReceptor>4243<'));
    expect(await send()).toEqual({ kind: 'fateUnknown', description: 'bad signature' });
  });

  test('an answer without a signature does not count', async () => {
    received(ackSobre().replace(/<Signature[\s\S]*<\/Signature>/, ''));
    expect(await send()).toEqual({ kind: 'fateUnknown', description: 'bad signature' });
  });

  test.each([
    ['of a stranger with the authority’s RUT', authorityKeys({ name: 'stranger' })],
    ['of a certificate that is trusted in the sandbox only', authorityKeys({ name: 'sandbox' })],
    ['made after the certificate ended', authorityKeys({ notAfter: new Date('2026-02-01T00:00:00Z') })],
  ])('a signature %s needs a person', async (_, keys) => {
    received(ackSobre({ keys }));
    const strict = createDgiClient({
      endpoints: {
        production: { receptionUrl: server.url, consultationUrl: server.url },
        sandbox: { receptionUrl: server.url, consultationUrl: server.url },
      },
      timeouts: { connectSeconds: 2, answerSeconds: 5 },
      soapHash: 'sha256',
      trustedSigners: async (environment) =>
        new Set(
          environment === 'sandbox' || keys.privateKey === signer.privateKey ? [fingerprint(keys)] : [],
        ),
    });
    expect(await sendSobre(strict, credentials, 'production', SOBRE)).toMatchObject({
      kind: 'stuck',
      reason: 'authority.untrusted_signer',
    });
  });
});

describe('askVerdict', () => {
  test('gives the verdict on every receipt', async () => {
    asked(ackCfe({ state: 'BE', codes: ['E05'] }));
    expect(await ask()).toMatchObject({
      kind: 'answered',
      ack: {
        receipts: [
          {
            ordinal: 1,
            typeCode: 101,
            serie: 'A',
            numero: 12,
            state: 'BE',
            reasons: [{ code: 'E05' }],
            original: undefined,
          },
        ],
      },
    });
  });

  test('tells where a duplicate was received first', async () => {
    const original =
      '<InfoRespOri><IDRespSobre>1</IDRespSobre><IDEmisorSobre>3</IDEmisorSobre><IDReceptorSobre>77</IDReceptorSobre><IDTokenSobre>b3JpZw==</IDTokenSobre></InfoRespOri>';
    asked(ackCfe({ state: 'BE', codes: ['E02'], original }));
    expect(await ask()).toMatchObject({
      ack: { receipts: [{ original: { idemisor: '3', idReceptor: '77', token: 'b3JpZw==' } }] },
    });
  });

  test('the question is in the services’ namespace, its token verbatim', async () => {
    asked(ackCfe());
    await ask();
    expect(server.requests[0]?.body).toContain(
      '<![CDATA[<ConsultaCFE xmlns="http://dgi.gub.uy"><IdReceptor>4242</IdReceptor><Token>dG9rZW4=</Token></ConsultaCFE>]]>',
    );
  });

  test('an answer about another sobre does not count', async () => {
    asked(ackCfe({ idReceptor: '4243' }));
    expect(await ask()).toMatchObject({ kind: 'repeat', description: 'other subject' });
  });

  test('the answer to another question does not count', async () => {
    asked(ackSobre());
    expect(await ask()).toMatchObject({ kind: 'repeat', description: 'unreadable' });
    received(ackCfe());
    expect(await ask()).toMatchObject({ kind: 'repeat', description: 'unreadable' });
  });
});

describe('findSobre', () => {
  test('asks for our number in a span of Montevideo time without zone', async () => {
    server.behaves(answers(shipments()));
    expect(await find()).toEqual({ kind: 'absent' });
    expect(server.requests[0]?.url).toBe('/c');
    expect(server.requests[0]?.body).toContain(
      '<Consultaenviossobre><IdEmisor>7</IdEmisor><IdReceptor>0</IdReceptor><FechaDesde>2026-03-01T00:00:00</FechaDesde><FechaHasta>2026-03-02T23:59:59</FechaHasta></Consultaenviossobre>',
    );
  });

  test('of a received sobre and its refused repeat the received one counts', async () => {
    server.behaves(
      answers(shipments(shipment('BS', { ticket: '' }), shipment('AS'), shipment('AS', { idemisor: '8' }))),
    );
    expect(await find()).toMatchObject({ kind: 'received', idReceptor: '4242', token: 'dG9rZW4=' });
  });

  test('sobres with other numbers are not ours', async () => {
    server.behaves(answers(shipments(shipment('AS', { idemisor: '70' }))));
    expect(await find()).toEqual({ kind: 'absent' });
  });
});

describe('findCfe', () => {
  test('gives the first sobre that carried a receipt', async () => {
    const state =
      '<Ackconsultaestadocfe><EstadoCFE>AE</EstadoCFE><IdEmisor>3</IdEmisor><IdReceptor>77</IdReceptor><ParamConsulta><Token>dA==</Token><Fechahora>2026-03-02T10:00:00</Fechahora></ParamConsulta></Ackconsultaestadocfe>';
    server.behaves(answers(consultationAnswer('EFACCONSULTARESTADOCFE', state)));
    expect(await findCfe()).toEqual({
      kind: 'found',
      state: 'AE',
      idemisor: '3',
      idReceptor: '77',
      token: 'dA==',
      askFrom: new Date('2026-03-02T13:00:00Z'),
    });
    expect(server.requests[0]?.body).toContain(
      '<Cfeid><TipoCFE>101</TipoCFE><Serie>A</Serie><Nro>12</Nro></Cfeid>',
    );
  });

  test('a receipt that is not there has an IdReceptor of 0', async () => {
    const none =
      '<Ackconsultaestadocfe><EstadoCFE/><IdEmisor>0</IdEmisor><IdReceptor>0</IdReceptor></Ackconsultaestadocfe>';
    server.behaves(answers(consultationAnswer('EFACCONSULTARESTADOCFE', none)));
    expect(await findCfe()).toEqual({ kind: 'absent' });
  });
});

describe('lookUpRut', () => {
  const record = (data: string) =>
    envelope(
      `<WS_PersonaGetActEmpresarial.ExecuteResponse xmlns="DGI_Modernizacion_Consolidado"><Data><![CDATA[<?xml version="1.0" encoding="ISO-8859-1"?><WS_PersonaActEmpresarial xmlns="DGI_Modernizacion_Consolidado">${data}</WS_PersonaActEmpresarial>]]></Data></WS_PersonaGetActEmpresarial.ExecuteResponse>`,
    );

  test('trims what the registry pads, and reads ñ although the inner declaration says ISO-8859-1', async () => {
    server.behaves(
      answers(
        record(
          '<RUT>219000090011</RUT><Denominacion>  ÑANDÚ SA </Denominacion><NombreFantasia/><FechaInicioActivdad>0000-00-00</FechaInicioActivdad>',
        ),
      ),
    );
    expect(await lookUp()).toMatchObject({
      kind: 'found',
      record: { rut: '219000090011', legalName: 'ÑANDÚ SA', tradeName: null, startDate: null },
    });
  });

  test.each([
    [8, null],
    [9, null],
    [10, 'NT'],
    [11, 'CC'],
    [12, 'AF'],
  ])('error %i is a record with status %s', async (code, activityStatus) => {
    server.behaves(answers(fault('Error Interno', code), { status: 500 }));
    expect(await lookUp()).toMatchObject({
      kind: 'found',
      record: { rut: '219000090011', activityStatus, legalName: null },
    });
  });
});

describe('connections', () => {
  const received = soapAnswer('EFACRECEPCIONSOBRE', ackSobre());
  const early = soapAnswer('EFACCONSULTARESTADOENVIO', exception(105));

  test('one after the other, requests share one, which is closed once nobody has used it for some seconds', async () => {
    await until('the end of earlier ones', 20, async () => server.connections.open === 0);
    const before = server.connections.opened;
    server.behaves(answers(received));
    expect(await send()).toMatchObject({ kind: 'received' });
    server.behaves(answers(early));
    for (let asked = 0; asked < 3; asked += 1) expect(await ask()).toMatchObject({ kind: 'notYet' });
    expect(server.connections).toEqual({ opened: before + 1, open: 1 });
    await until('its end', 20, async () => server.connections.open === 0);
  });

  test('an answer may take longer than an unused one is kept', async () => {
    server.behaves(answers(early));
    await ask();
    server.behaves((response, request) => setTimeout(() => answers(early)(response, request), 3_500));
    expect(await ask()).toMatchObject({ kind: 'notYet' });
  });

  test('one that the gateway closed meanwhile: a send is asked about, a question is asked again', async () => {
    for (const [call, what] of [
      [send, 'fateUnknown'],
      [ask, 'repeat'],
    ] as const) {
      server.behaves(answers(early));
      await ask();
      server.behaves((_, request) => request.socket.resetAndDestroy());
      expect(await call()).toMatchObject({ kind: what });
    }
    server.behaves(answers(early));
    expect(await ask()).toMatchObject({ kind: 'notYet' });
  });
});

describe('what hangs, breaks or floods', () => {
  const dropped = () => server.behaves((response) => response.destroy());

  test('a refused connection: nothing was sent', async () => {
    const port = await freePort();
    const answer = await sendSobre(clientAt(`http://127.0.0.1:${port}`), credentials, 'production', SOBRE);
    expect(answer).toEqual({ kind: 'repeat', description: 'ECONNREFUSED', reached: false });
  });

  test('a host that nobody knows: nothing was sent', async () => {
    const answer = await sendSobre(clientAt('http://nobody.invalid'), credentials, 'production', SOBRE);
    expect(answer).toMatchObject({ kind: 'repeat', reached: false });
  });

  test('TLS that speaks no TLS ends within the time-out of the handshake', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    const { port } = silent.address() as AddressInfo; // a TCP server's address is never a pipe's name
    const sockets = new Set<{ destroy(): void }>();
    silent.on('connection', (socket) => sockets.add(socket));
    const slow = clientAt(`https://127.0.0.1:${port}`, { connectSeconds: 0.2 });
    expect(await sendSobre(slow, credentials, 'production', SOBRE)).toEqual({
      kind: 'repeat',
      description: 'time-out: secureConnect',
      reached: false,
    });
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => silent.close(resolve));
  });

  test('a connection that is dropped without an answer: nobody knows whether it was kept', async () => {
    dropped();
    expect(await send()).toMatchObject({ kind: 'fateUnknown' });
    expect(await ask()).toMatchObject({ kind: 'repeat', reached: false });
  });

  test('no answer ends within the time-out', async () => {
    server.behaves(() => {});
    const answer = await sendSobre(
      clientAt(server.url, { answerSeconds: 0.2 }),
      credentials,
      'production',
      SOBRE,
    );
    expect(answer).toMatchObject({ kind: 'fateUnknown', description: 'time-out: answer' });
  });

  test('an answer that drips ends within the time-out of the whole', async () => {
    server.behaves((response) => {
      response.writeHead(200, { 'content-type': 'text/xml' });
      const timer = setInterval(() => response.write(' '), 20);
      response.once('close', () => clearInterval(timer));
    });
    const answer = await sendSobre(
      clientAt(server.url, { answerSeconds: 0.3 }),
      credentials,
      'production',
      SOBRE,
    );
    expect(answer).toMatchObject({ kind: 'fateUnknown', description: 'time-out: answer' });
  });

  test('an answer without end is cut off at its largest size', async () => {
    server.behaves((response) => {
      response.writeHead(200, { 'content-type': 'text/xml' });
      const flood = () => {
        if (response.destroyed) return;
        if (response.write(' '.repeat(65_536))) setImmediate(flood);
        else response.once('drain', flood);
      };
      flood();
    });
    expect(await send()).toMatchObject({ kind: 'fateUnknown', description: 'too large' });
  });

  test('a small answer that unpacks to a huge one is cut off as it unpacks', async () => {
    const bomb = gzipSync(Buffer.alloc(200_000_000, 0x20));
    server.behaves(answers(bomb, { headers: { 'content-encoding': 'gzip' } }));
    const push = jest.spyOn(Unzip.prototype, 'push');
    expect(await send()).toMatchObject({ kind: 'fateUnknown', description: 'too large' });
    const unpacked = push.mock.calls.reduce(
      (sum, [chunk]) => sum + ((chunk as Buffer | null)?.length ?? 0),
      0,
    );
    push.mockRestore();
    expect(unpacked).toBeGreaterThan(0);
    expect(unpacked).toBeLessThan(100_000_000);
  });

  test('a packed answer is unpacked', async () => {
    const packed = gzipSync(soapAnswer('EFACRECEPCIONSOBRE', ackSobre()));
    server.behaves(answers(packed, { headers: { 'content-encoding': 'gzip' } }));
    expect(await send()).toMatchObject({ kind: 'received' });
  });

  test('what calls itself packed and is not is no answer', async () => {
    server.behaves(answers('not gzip', { headers: { 'content-encoding': 'gzip' } }));
    expect(await send()).toMatchObject({ kind: 'fateUnknown' });
  });

  test('a redirect is not followed', async () => {
    server.behaves(answers('', { status: 307, headers: { location: `${server.url}/elsewhere` } }));
    expect(await send()).toEqual({ kind: 'fateUnknown', description: 'HTTP 307' });
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    [
      'a DOCTYPE around',
      soapAnswer('EFACRECEPCIONSOBRE', ackSobre()).replace('?>', '?><!DOCTYPE a [<!ENTITY b "c">]>'),
    ],
    [
      'a DOCTYPE inside',
      soapAnswer(
        'EFACRECEPCIONSOBRE',
        ackSobre().replace('?>', '?><!DOCTYPE ACKSobre SYSTEM "file:///etc/passwd">'),
      ),
    ],
    ['HTML', '<html><body>Service unavailable<br></body></html>'],
    ['nothing', ''],
    ['broken XML', soapAnswer('EFACRECEPCIONSOBRE', ackSobre()).slice(0, -20)],
    [
      'XML nested without end',
      soapAnswer('EFACRECEPCIONSOBRE', `${'<a>'.repeat(5_000)}${'</a>'.repeat(5_000)}`),
    ],
  ])('%s is no answer', async (_, body) => {
    server.behaves(answers(body));
    expect(await send()).toEqual({ kind: 'fateUnknown', description: 'unreadable' });
  });

  test('an answer in ISO-8859-1 that says so is read', async () => {
    const text = shipments(shipment('AS'))
      .replace('UTF-8', 'ISO-8859-1')
      .replace('</DatosSobre>', '<Otro>ñ</Otro></DatosSobre>');
    server.behaves(answers(Buffer.from(text, 'latin1')));
    expect(await find()).toMatchObject({ kind: 'received' });
  });

  test('bytes that are not in the encoding they claim are no answer', async () => {
    server.behaves(answers(Buffer.from(soapAnswer('EFACRECEPCIONSOBRE', '<a>ñ</a>'), 'latin1')));
    expect(await send()).toMatchObject({ kind: 'fateUnknown', description: 'unreadable' });
  });
});

describe('what comes in place of an answer, whatever was asked', () => {
  const questions = { ask, find, findCfe, lookUp };

  test.each([
    'No signature in message!',
    'Certificate is not trusted',
    '*Unknown SignatureMethod algorithm',
    'Digest value mismatch',
  ])('a fault of the gateway about our signature (%s) needs a person', async (message) => {
    server.behaves(answers(fault(message), { status: 500 }));
    for (const call of [send, ...Object.values(questions)]) {
      expect(await call()).toMatchObject({ kind: 'stuck', reason: 'authority.signature_refused' });
    }
  });

  test.each([
    ['any other fault, HTTP 200', fault('Internal Error (from client)'), 200, 'SOAP fault, HTTP 200'],
    ['any other fault, HTTP 500', fault('Internal Error (from client)'), 500, 'SOAP fault, HTTP 500'],
    ['an error page, HTTP 403', '<html>error', 403, 'HTTP 403'],
    ['an error page, HTTP 404', '<html>error', 404, 'HTTP 404'],
    ['an error page, HTTP 502', '<html>error', 502, 'HTTP 502'],
    ['an error page, HTTP 503', '<html>error', 503, 'HTTP 503'],
  ])(
    '%s: questions go by themselves, the fate of a send is unknown',
    async (_, body, status, description) => {
      server.behaves(answers(body, { status }));
      expect(await send()).toEqual({ kind: 'fateUnknown', description });
      for (const call of Object.values(questions)) {
        expect(await call()).toEqual({ kind: 'repeat', description, reached: true });
      }
    },
  );
});

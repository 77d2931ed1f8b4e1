import { describe, expect, test } from '@jest/globals';
import { NoAnswer, parseAnswer, readDocument } from '../../../src/dgi/answers.ts';
import { readPayload, readSoap } from '../../../src/dgi/soap.ts';
import { readAckCfe, readAckSobre, readExceptions } from '../../../src/dgi/xml/ack.ts';
import { parseXml, withoutDeclaration } from '../../../src/dgi/xml/parse.ts';
import { readRegistryRecord } from '../../../src/dgi/xml/registry.ts';
import { fault } from '../../support/dgi/answers.ts';
import { sample, sampleBytes } from '../../support/dgi/samples.ts';
import { testWithOfficialFiles } from '../../support/simulator/tools.ts';

const LIMIT = { mostCharacters: 1_000_000 };
const root = (text: string) => parseXml(text, LIMIT);
const keyOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof NoAnswer) return error.answer;
    throw error;
  }
  return 'an answer';
};

describe('answers of the official documents', () => {
  testWithOfficialFiles('ACKSobre AS of 2013, which breaks its own XSD', () => {
    expect(readAckSobre(root(sample('soap/doc2013_ACKSobre_AS.xml')))).toMatchObject({
      receiverRut: '214844360018',
      issuerRut: '219999820013',
      state: 'AS',
      reasons: [],
      token: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/),
      askFrom: expect.any(Date),
    });
  });

  testWithOfficialFiles('ACKCFE AE of 2013, whose date carries a time', () => {
    expect(readAckCfe(root(sample('soap/doc2013_ACKCFE_AE.xml')))).toEqual({
      receiverRut: '214844360018',
      issuerRut: '219999820013',
      idemisor: '3009',
      idReceptor: '1516',
      signedAt: new Date('2012-02-10T11:55:00Z'),
      receipts: [
        {
          ordinal: 1,
          typeCode: 101,
          serie: 'A',
          numero: 1,
          signedAt: '2012-02-08T09:48:51',
          state: 'AE',
          reasons: [],
          original: undefined,
        },
      ],
    });
  });

  testWithOfficialFiles.each([
    ['synth_resp_RECEPCIONSOBRE_ACKSobre.xml', 'sendSobre', 'doc2013_ACKSobre_AS.xml'],
    ['synth_resp_ESTADOENVIO_ACKCFE.xml', 'askVerdict', 'doc2013_ACKCFE_AE.xml'],
  ] as const)('%s carries its document byte for byte', (name, operation, document) => {
    const soap = readSoap(sample(`soap/${name}`), operation, LIMIT);
    if (soap.kind !== 'answer') throw new Error('a fault');
    const carried = withoutDeclaration(readPayload(soap.element) ?? '');
    expect(carried).toBe(withoutDeclaration(sample(`soap/${document}`)));
  });

  testWithOfficialFiles.each([
    ['synth_resp_ESTADOENVIO_105.xml', 'askVerdict', 'code 105'],
    ['synth_resp_RECEPCIONSOBRE_108.xml', 'sendSobre', 'code 108'],
  ] as const)('%s is the exception %s: %s', (name, operation, key) => {
    const body = sampleBytes(`soap/${name}`);
    expect(keyOf(() => readDocument(parseAnswer({ status: 200, body }, operation)))).toBe(key);
  });

  testWithOfficialFiles.each([
    ['doc_eRUT_fault_5.xml', 'code 5'],
    ['doc_eRUT_fault_14.xml', 'code 14'],
  ])('%s is the exception %s, whatever the status', (name, key) => {
    for (const status of [200, 500]) {
      expect(keyOf(() => parseAnswer({ status, body: sampleBytes(`soap/${name}`) }, 'lookUpRut'))).toBe(key);
    }
  });

  testWithOfficialFiles('the registry’s record, trimmed, without dates that are none', () => {
    const answer = parseAnswer(
      { status: 200, body: sampleBytes('soap/synth_eRUT_response.xml') },
      'lookUpRut',
    );
    expect(readRegistryRecord(readDocument(answer))).toEqual({
      rut: '219000090011',
      legalName: 'DGI RUC PRUEBA CEDE',
      tradeName: 'TU PRUEBA',
      entityTypeCode: '6',
      entityTypeDescription: 'SOCIEDAD COLECTIVA',
      activityStatus: 'AA',
      startDate: '2006-09-27',
      businessActivities: [
        {
          activityCode: '1132',
          activityName: 'Cultivos de hortalizas no hidropónicas',
          startDate: '2013-04-02',
        },
      ],
      fiscalAddresses: [
        { branch: 1, localityName: 'MONTEVIDEO', streetName: 'FERNANDEZ CRESPO AVDA. DANIEL' },
      ],
    });
  });
});

describe('readAckCfe', () => {
  test('a receipt that the authority could not parse has its place only', () => {
    const ack =
      '<ACKCFE><Caratula/><ACKCFE_Det><Nro_ordinal>2</Nro_ordinal><Estado>BE</Estado></ACKCFE_Det></ACKCFE>';
    expect(readAckCfe(root(ack))?.receipts).toEqual([
      {
        ordinal: 2,
        typeCode: undefined,
        serie: undefined,
        numero: undefined,
        signedAt: undefined,
        state: 'BE',
        reasons: [],
        original: undefined,
      },
    ]);
  });

  test('reasons and observations come alike, with details or none', () => {
    const det =
      '<ACKCFE_Det><Nro_ordinal>1</Nro_ordinal><Estado>CE</Estado><ObsCFC><Motivo>C06</Motivo><Glosa>Importe</Glosa></ObsCFC></ACKCFE_Det>';
    expect(readAckCfe(root(`<ACKCFE>${det}</ACKCFE>`))?.receipts[0]?.reasons).toEqual([
      { code: 'C06', message: 'Importe', detail: null },
    ]);
  });
});

describe('readExceptions', () => {
  test('case, namespace and leading zeros do not count', () => {
    const text = '<a xmlns="u"><Respuestas><Respuesta><Codigo>005</Codigo></Respuesta></Respuestas></a>';
    expect(readExceptions(root(text))).toEqual([{ code: '5', message: '', detail: null }]);
  });

  test('a document that is no exception has none', () => {
    expect(readExceptions(root('<ACKSobre><codigo>5</codigo></ACKSobre>'))).toEqual([]);
  });
});

describe('parseAnswer', () => {
  const key = (status: number, text: string) =>
    keyOf(() => parseAnswer({ status, body: Buffer.from(text) }, 'sendSobre'));

  test('a fault of SOAP 1.2 is read as well', () => {
    const text =
      '<e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"><e:Body><e:Fault><e:Reason><e:Text>No signature in message!</e:Text></e:Reason></e:Fault></e:Body></e:Envelope>';
    expect(key(500, text)).toBe('fault security');
  });

  test.each([
    ['"No signature in message!"', 'No signature in message!', 'fault security'],
    [
      'a part that is not signed',
      "XPath expression /*[local-name()='Body'] not covered by signature",
      'fault security',
    ],
    ['an unknown method', '*Unknown SignatureMethod algorithm', 'fault security'],
    [
      'a role',
      'No signature in the WS-Security message for the configured soap actor/role ""',
      'fault security',
    ],
    ['an error of the gateway', 'Internal Error (from client)', 'fault'],
    ['nobody behind the gateway', 'Failed to establish a backside connection', 'fault'],
  ])('%s is %s', (_, message, expected) => {
    expect(key(500, fault(message))).toBe(expected);
  });
});

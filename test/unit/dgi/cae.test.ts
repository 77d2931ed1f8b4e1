import { describe, expect, test } from '@jest/globals';
import { type CaeReading, readCae } from '../../../src/dgi/xml/cae.ts';
import { caeFaults } from '../../../src/domain/numbers/cae.ts';
import { authorityKeys, fingerprint } from '../../support/dgi/answers.ts';
import { sampleBytes } from '../../support/dgi/samples.ts';
import { processorMilliseconds } from '../../support/processes/processorTime.ts';
import { signCfe } from '../../support/simulator/signing.ts';
import { testWithOfficialFiles } from '../../support/simulator/tools.ts';

const numbered = (count: number, part: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => part(i)).join(' ');

const signed = (reading: CaeReading) => {
  if (reading.kind !== 'signed') throw new Error(`not signed but ${reading.kind}`);
  return reading;
};

describe('readCae on the official samples', () => {
  testWithOfficialFiles.each([
    ['90120000194', 101, 'B', 1, 145_778],
    ['90120000208', 111, 'A', 1_233_334, 2_221_320],
    ['90120000216', 113, 'A', 8_888_889, 9_673_409],
    ['90120000224', 113, 'A', 9_673_410, 9_751_950],
  ])(
    '%s is of type %i, serie %s, %i to %i',
    (authorizationNumber, typeCode, serie, numberStart, numberEnd) => {
      const { facts, signer } = signed(readCae(sampleBytes(`CAE_219999830019_${authorizationNumber}.xml`)));
      expect(facts).toEqual({
        issuerRut: '219999830019',
        typeCode,
        serie,
        numberStart,
        numberEnd,
        authorizationNumber,
        issueDate: '2012-08-24',
        expirationDate: '2014-08-24',
        use: undefined,
        special: undefined,
      });
      expect(signer).toMatchObject({ wasValid: true });
      expect(
        caeFaults(facts, {
          rut: '219999830019',
          startNumber: numberStart,
          today: '2013-01-01',
          storedRanges: [],
        }),
      ).toEqual([]);
    },
  );

  testWithOfficialFiles('one digit changed, and the signature is bad', () => {
    const text = sampleBytes('CAE_219999830019_90120000194.xml').toString().replace('>145778<', '>999999<');
    expect(readCae(Buffer.from(text))).toEqual({ kind: 'badSignature' });
  });
});

describe('readCae', () => {
  const FIELDS: Record<string, string> = {
    RucE: '219999830019',
    TCFE: '101',
    Serie: 'A',
    DNro: '1',
    HNro: '100',
    TA: 'E',
    NA: '90260000018',
    FA: '2026-03-01',
    FVD: '2028-03-01',
  };
  const cae = (changes: Record<string, string | undefined> = {}, signedAt = '2026-03-02T10:00:00-03:00') => {
    const fields = Object.entries({ ...FIELDS, ...changes })
      .map(([name, value]) => (value === undefined ? '' : `<${name}>${value}</${name}>`))
      .join('');
    return signCfe(
      `<CAE xmlns="http://cfe.dgi.gub.uy" version="1.0"><TmstFrma>${signedAt}</TmstFrma><DA>${fields}</DA></CAE>`,
      authorityKeys(),
      { hash: 'sha1' },
    );
  };
  const read = (text: string) => readCae(Buffer.from(text));

  test('gives the signer by the fingerprint of its certificate', () => {
    expect(signed(read(cae())).signer).toEqual({
      fingerprint: fingerprint(authorityKeys()),
      wasValid: true,
    });
  });

  test('a certificate that was not valid when it signed', () => {
    expect(signed(read(cae({}, '2025-12-31T20:59:59-03:00'))).signer.wasValid).toBe(false);
  });

  test('a special CAE with its cause', () => {
    const { facts } = signed(read(cae({ CAEEspecial: '1', CausalCAEEsp: '012' })));
    expect(facts).toMatchObject({ use: 'E', special: { kind: 1, cause: '012' } });
  });

  test.each([
    ...Object.keys(FIELDS)
      .filter((name) => name !== 'TA')
      .map((name): [string, string] => [`a CAE without ${name}`, cae({ [name]: undefined })]),
    ['a CAE whose number is no number', cae({ HNro: '1e3' })],
    ['a CAE signed nobody knows when', cae({}, 'yesterday')],
    ['a special kind that is no number', cae({ CAEEspecial: 'X' })],
    ['another document', signCfe('<ACKSobre xmlns="http://cfe.dgi.gub.uy"/>', authorityKeys())],
    ['a CAE of another namespace', cae().replaceAll('http://cfe.dgi.gub.uy', 'http://example.org')],
    ['a CAE with a DOCTYPE', `<!DOCTYPE CAE>${cae()}`],
    ['a CAE with something else in it', cae().replace('</DA>', '</DA><DB/>')],
    ['a CAE with its content twice', cae().replace('</DA>', '</DA><DA/>')],
    ['a CAE of 101 elements', cae().replace('</DA>', `${'<a/>'.repeat(101)}</DA>`)],
    [
      'a CAE with 104 attributes',
      cae().replace(/<(DA|RucE|TCFE|Serie)>/g, `<$1 ${numbered(26, (i) => `a${i}=""`)}>`),
    ],
    ['no XML', 'hello'],
    ['nothing', ''],
    ['a file that is too large', `${cae()}${' '.repeat(70_000)}`],
  ])('%s is malformed', (_, text) => {
    expect(read(text)).toEqual({ kind: 'malformed' });
  });

  test.each([
    ['elements', '<a/>'],
    ['comments', '<!---->'],
    ['instructions', '<?a?>'],
    ['CDATA sections', '<![CDATA[]]>'],
  ])('64 KB of %s are refused before anything is built of them', (_, part) => {
    const text = cae().replace('</DA>', `${part.repeat(Math.floor(60_000 / part.length))}</DA>`);
    let result: unknown;

    const milliseconds = processorMilliseconds(() => {
      result = read(text);
    });

    expect(result).toEqual({ kind: 'malformed' });
    expect(milliseconds).toBeLessThan(2_000);
  });

  test('an unsigned CAE has a bad signature', () => {
    expect(read(cae().replace(/<Signature[\s\S]*<\/Signature>/, ''))).toEqual({ kind: 'badSignature' });
  });
});

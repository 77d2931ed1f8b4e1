import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { applicationSheet } from '../../../src/domain/enterprises/application.ts';
import { CFE_TYPE_NAMES } from '../../../src/domain/receipts/cfeTypes.ts';
import { PAPER_SIZES } from '../../../src/domain/receipts/qr.ts';
import { drawApplicationSheet } from '../../../src/print/applicationSheet.ts';
import { FIELD_NAMES } from '../../../src/words/application.ts';
import { applicationEs } from '../../../src/words/es/application.ts';
import { aDocument } from '../../bench/tools/document.ts';
import { A_LOGO } from '../../support/console/pictures.ts';
import { drawReceipt } from '../../support/print/drawn.ts';
import { attachmentOf, fontsOf, textOf } from '../../support/print/outside.ts';
import { testWithPoppler } from '../../support/print/poppler.ts';
import { printable } from '../../support/print/printable.ts';
import { aReceiptOf } from '../../support/print/samples.ts';
import { testWith } from '../../support/simulator/tools.ts';

testWithPoppler('the signed CFE is inside, byte for byte', async () => {
  const receipt = printable(aDocument(3));
  expect(attachmentOf(await drawReceipt(receipt, '58mm'))).toEqual({
    name: '219999830019-101-A-1.xml',
    content: receipt.xml,
  });
});

testWithPoppler('every font is embedded as a subset, with its characters', async () => {
  const fonts = fontsOf(await drawReceipt(printable(aDocument(3)), 'A4'));
  expect(fonts).toHaveLength(2);
  for (const font of fonts)
    expect(font).toMatch(/NotoSans-(Bold|Regular) +CID TrueType +Identity-H +yes yes yes/);
});

const aSheet = () =>
  applicationSheet({
    enterprise: {
      rut: '219999830019',
      legalName: 'Empresa SA',
      streetName: 'Rincón 500',
      localityName: 'Montevideo',
      departmentName: 'Montevideo',
      phoneNumber: null,
      email: 'dgi@empresa.example',
      website: null,
    },
    provider: { rut: '219999820013', product: 'CFEAPI1', version: '1.0.0' },
    publicUrl: 'https://cfe.example',
    typeCodes: [101, 102, 103, 111, 112, 113],
    testDate: '2026-11-20',
  });

testWithPoppler('the sheet of the postulación has every field and all ten items', async () => {
  const pdf = await drawApplicationSheet(aSheet(), { legalName: 'Empresa SA', date: '2026-11-20' });
  const text = textOf(Buffer.from(pdf));
  for (const name of Object.values(FIELD_NAMES)) expect(text).toContain(name);
  for (const item of Object.values(applicationEs.items)) expect(text).toContain(item.what);
  expect(text).toContain('https://cfe.example');
  // □ stands for a character that the font does not have.
  expect(text).not.toContain('□');
});

/** veraPDF's command line as one jar (org.verapdf.apps:greenfield-apps); .ci/run fetches it from Maven Central. */
const VERAPDF = process.env['VERAPDF_JAR'] ?? '';

testWith(VERAPDF !== '', 'veraPDF (VERAPDF_JAR)')('veraPDF finds every print to be PDF/A-3a', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'verapdf-'));
  try {
    const files: string[] = [];
    const prints = [
      ...CFE_TYPE_NAMES.map((type) => aReceiptOf(type)),
      aReceiptOf('ETICKET', 200),
      { ...aReceiptOf('EFACTURA'), adenda: 'Lo que falta: 漢字 😀' },
    ];
    for (const [index, document] of prints.entries()) {
      const paper = PAPER_SIZES[index % PAPER_SIZES.length] ?? 'A4';
      const receipt = printable(document, {
        logo: A_LOGO,
        environment: index % 2 ? 'sandbox' : 'production',
      });
      const file = join(folder, `${index}.pdf`);
      writeFileSync(file, await drawReceipt(receipt, paper));
      files.push(file);
    }
    const sheet = join(folder, 'sheet.pdf');
    writeFileSync(
      sheet,
      await drawApplicationSheet(aSheet(), { legalName: 'Empresa SA', date: '2026-11-20' }),
    );
    files.push(sheet);
    const args = [
      '-cp',
      VERAPDF,
      'org.verapdf.apps.GreenfieldCliWrapper',
      '--flavour',
      '3a',
      '--format',
      'text',
      ...files,
    ];
    const { stdout } = spawnSync('java', args, { encoding: 'utf8' });
    expect(stdout.trim().split('\n').toSorted()).toEqual(files.map((file) => `PASS ${file} 3a`).toSorted());
  } finally {
    rmSync(folder, { recursive: true });
  }
});

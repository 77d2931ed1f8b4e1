import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { XmlBufferInputProvider, XmlDocument, XsdValidator, xmlRegisterInputProvider } from 'libxml2-wasm';

/** A compiled official schema: returns what is wrong with a document, '' when nothing is. */
type SchemaCheck = (document: XmlDocument) => string;

/** The official schemas that the authority applies. */
export interface Schemas extends Disposable {
  /** A whole sobre, its receipts included (EnvioCFE.xsd). */
  readonly sobre: SchemaCheck;
  /** One signed receipt (CFEDGI.xsd). */
  readonly cfe: SchemaCheck;
  /** A signed daily report (ReporteDiarioCFE.xsd). */
  readonly report: SchemaCheck;
}

/**
 * The official schemas out of a folder with `xsd/` and `xsd-libxml2/`, compiled once; null where the folder has none.
 * They are read into memory under names of their own, so that includes resolve there and never on a network; the one
 * schema that libxml2 cannot use as published is replaced by its mended copy (docs/authority/README.md#libxml2).
 */
export function loadSchemas(folder: string): Schemas | null {
  if (folder === '' || !existsSync(join(folder, 'xsd', 'EnvioCFE.xsd'))) return null;
  const files: Record<string, Buffer> = {};
  for (const source of ['xsd', 'xsd-libxml2']) {
    const from = join(folder, source);
    if (!existsSync(from)) continue;
    for (const file of readdirSync(from))
      if (file.endsWith('.xsd')) files[`${BASE}${file}`] = readFileSync(join(from, file));
  }
  xmlRegisterInputProvider(new XmlBufferInputProvider(files));
  const [sobre, cfe, report] = ['EnvioCFE.xsd', 'CFEDGI.xsd', 'ReporteDiarioCFE.xsd'].map((name) =>
    compile(files, name),
  ) as [XsdValidator, XsdValidator, XsdValidator];
  return {
    sobre: checkBy(sobre),
    cfe: checkBy(cfe),
    report: checkBy(report),
    [Symbol.dispose]() {
      sobre.dispose();
      cfe.dispose();
      report.dispose();
    },
  };
}

const BASE = '/simulator-schemas/';

function compile(files: Readonly<Record<string, Buffer>>, name: string): XsdValidator {
  const url = `${BASE}${name}`;
  using schema = XmlDocument.fromBuffer(files[url] ?? Buffer.alloc(0), { url });
  return XsdValidator.fromDoc(schema);
}

const checkBy =
  (validator: XsdValidator): SchemaCheck =>
  (document) => {
    try {
      validator.validate(document);
      return '';
    } catch (error) {
      return (error as Error).message
        .replace(/\{[^}]*\}/g, '')
        .replace(/\s+/g, ' ')
        .trim();
    }
  };

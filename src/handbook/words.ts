import type { GuideLanguage, Slug } from './guides.ts';

const en = {
  name: 'English',
  title: 'CFE API',
  guides: 'Guides',
  reference: 'Reference',
  description: 'openapi.json',
  language: 'Language',
  code: 'Examples in',
  search: 'Search',
  results: (query: string): string => `Results for “${query}”`,
  none: 'Nothing was found. Shorter words find more.',
  lost: 'There is no such page',
  lostAbout: 'The address may be misspelt, or the page was moved. All pages:',
  skip: 'Skip to content',
  /** Other words by which people search for each guide. */
  also: {
    'first-receipt': 'card cash tip payment time zone timezone',
    'going-live': 'production certificate DGI CAE numbers range authorisation',
    notes: 'refund cancel void return annul reverse money back',
    exports: 'customs foreign buyer incoterm',
    'foreign-currency': 'dollars euros exchange rate discount VAT included',
    webhooks: 'secret rotate rotation callback notification event',
    refused: 'error code failed UI unit 5,000',
    limits: 'rate retry timeout time out idempotent twice page cursor',
    printing: 'paper thermal ticket roll logo mail PDF QR',
  } as Readonly<Partial<Record<Slug, string>>>,
  about:
    'Electronic fiscal receipts (CFE) of Uruguay by JSON over HTTPS. Begin with the first guide: it takes ten minutes and says where to get the keys.',
  referenceAbout: 'Every operation, field and event, with a page to try them.',
  rule: 'Rule',
  example: 'Message, for example',
  rules: {
    'Any body': 'Any body',
    'Any request': 'Any request',
    'Issuing a CFE': 'Issuing a CFE',
    CAE: 'CAEs',
    Certificate: 'Certificates',
    Customer: 'Customers',
    Enterprise: 'Enterprises',
  } as Readonly<Record<string, string>>,
};

const es: typeof en = {
  name: 'Español',
  title: 'API de CFE',
  guides: 'Guías',
  reference: 'Referencia',
  description: 'openapi.json',
  language: 'Idioma',
  code: 'Ejemplos en',
  search: 'Buscar',
  results: (query) => `Resultados de «${query}»`,
  none: 'No se encontró nada. Las palabras más cortas encuentran más.',
  lost: 'Esa página no existe',
  lostAbout: 'La dirección puede tener un error, o la página cambió de lugar. Todas las páginas:',
  skip: 'Ir al contenido',
  also: {
    'first-receipt': 'tarjeta contado efectivo propina pago zona horaria',
    'going-live': 'producción certificado DGI CAE numeración rango autorización',
    notes: 'devolución anular cancelar reembolso revertir',
    exports: 'aduana comprador extranjero incoterm',
    'foreign-currency': 'dólares euros cotización tipo de cambio descuento IVA incluido',
    webhooks: 'secreto rotar renovar aviso notificación evento',
    refused: 'error código falló UI unidad indexada 5.000',
    limits: 'reintento tiempo de espera timeout idempotencia dos veces página cursor',
    printing: 'papel térmico ticket rollo logo correo PDF QR',
  },
  about:
    'Comprobantes fiscales electrónicos (CFE) de Uruguay por JSON sobre HTTPS. Conviene empezar por la primera guía: lleva diez minutos y dice de dónde salen las claves.',
  referenceAbout: 'Todas las operaciones, campos y eventos, con una página para probarlas.',
  rule: 'Regla',
  example: 'Mensaje, por ejemplo',
  rules: {
    'Any body': 'Cualquier cuerpo',
    'Any request': 'Cualquier solicitud',
    'Issuing a CFE': 'Emisión de un CFE',
    CAE: 'CAE',
    Certificate: 'Certificados',
    Customer: 'Clientes',
    Enterprise: 'Empresas',
  },
};

/** The words around the guides. */
export const SITE_WORDS: Readonly<Record<GuideLanguage, typeof en>> = { es, en };

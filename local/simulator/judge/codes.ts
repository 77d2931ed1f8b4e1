/** Glosses of refused sobres (Formato Mensaje de Respuesta v19, table of S codes; wording of DGITypes.xsd). */
const SOBRE_GLOSSES = {
  S01: 'Formato del archivo no es el indicado',
  S02: 'No coincide RUC de Sobre, Certificado, envío o CFE',
  S03: 'Certificado electrónico no es válido',
  S04: 'No cumple validaciones según Formato de sobre',
  S05: 'No coinciden cantidad CFE de carátula y contenido',
  S06: 'No coinciden certificado de sobre y comprobantes',
  S07: 'Sobre enviado supera el tamaño máximo admitido',
  S08: 'Sobre enviado ya existe en los registros de DGI',
} as const;

/** Glosses of refused receipts (Formato Mensaje de Respuesta v19, table 4.3; wording of DGITypes.xsd). */
const RECEIPT_GLOSSES = {
  E01: 'Tipo y Nº de CFE ya fue reportado como anulado',
  E02: 'Tipo y Nº de CFE ya existe en los registros',
  E03: 'Tipo y Nº de CFE no se corresponden con el CAE',
  E04: 'Firma electrónica no es válida',
  E05: 'No cumple validaciones de Formato comprobantes',
  E06: 'Importe informado en el CFE excede montos habituales',
  E07: 'Fecha Firma de CFE no se corresponde con fecha CAE',
  E08: 'No coincide RUC de CFE y Complemento Fiscal',
  E09: 'RUC emisor y/o tipo de CFE no se corresponden con el CAE',
  E10: 'Tipo de cambio no válido',
  E11: 'Tipo de CAE especial del CFE no se corresponde con el CAE',
  E12: 'Información en Zona de Referencia no existe en los registros',
  E13: 'Tipo de CAE  del CFE  no se corresponde con el CAE utilizado',
  E14: 'Irregularidades detectadas',
  E15: 'Deudor contumaz sin informar situación',
} as const;

/** Glosses of observed receipts (ObsCFCType). */
const OBSERVATION_GLOSSES = {
  C03: 'Constancia no autorizada según registros',
  C04: 'Firma electrónica no es válida',
  C05: 'No cumple validaciones de Formato comprobantes',
  C06: 'Importe informado en el CFE excede montos habituales',
  C08: 'No coincide RUC de CFE y Complemento Fiscal',
  C09: 'Nº de CFC no fue autorizado según registros',
  C10: 'Tipo de cambio no válido',
  C11: 'Tipo de constancia especial del CFC no se corresponde con el constancia',
  C12: 'Información en Zona de Referencia no existe en nuestros registros',
  C13: 'Tipo de constancia del CFC no se corresponde con la constancia',
  C14: 'Irregularidades detectadas',
  C15: 'Deudor contumaz sin informar situación',
} as const;

/** Glosses of refused daily reports (Formato Mensaje de Respuesta v19, table of R codes; wording of DGITypes.xsd). */
const REPORT_GLOSSES = {
  R01: 'Formato del archivo no es el indicado',
  R02: 'No coincide RUC en Reporte, Certificado o envío',
  R03: 'Firma o Certificado electrónicos no son válidos',
  R04: 'No cumple validaciones según Formato de Reporte',
  R05: 'La secuencia indicada en el reporte no es correcta',
  R06: 'Fecha recepción no puede ser menor a fecha resumen',
} as const;

/** Texts of the services' exceptions (ExcepcionesServicios.xsd). */
export const EXCEPTIONS = {
  1: 'El XML token recibido no está bien formado.',
  2: 'El IdReceptor debe ser un número positivo.',
  3: 'El Token corresponde a otro IdReceptor.',
  4: 'El Token corresponde a otro RUC.',
  5: 'Error al validar el Certificado.',
  104: 'El método invocado ha detectado una excepción en su ejecución o no existe un sobre con dicho Id Receptor para el RUC especificado.',
  105: 'El sobre con el Id Receptor especificado aún no ha sido procesado. Vuelva a consultar luego.',
  109: 'Reporte duplicado. El reporte fue recibido en un envío anterior.',
} as const;
export type ExceptionCode = keyof typeof EXCEPTIONS;

const GLOSSES = { ...SOBRE_GLOSSES, ...RECEIPT_GLOSSES, ...OBSERVATION_GLOSSES, ...REPORT_GLOSSES };

export type SobreCode = keyof typeof SOBRE_GLOSSES;
export type ReceiptCode = keyof typeof RECEIPT_GLOSSES;
export type ReportCode = keyof typeof REPORT_GLOSSES;
export type ObservationCode = keyof typeof OBSERVATION_GLOSSES;
export type Code = keyof typeof GLOSSES;

/** What the authority says of a receipt: accepted, refused, observed. */
export type Verdict = 'AE' | 'BE' | 'CE';

/** Why a sobre or a receipt is refused, or a receipt observed: a code and what was found. */
export interface Reason {
  readonly code: Code;
  readonly detail: string;
}

/** The authority's text for a code. */
export const glossOf = (code: Code): string => GLOSSES[code];

export const isSobreCode = (text: string): text is SobreCode => Object.hasOwn(SOBRE_GLOSSES, text);
export const isReceiptCode = (text: string): text is ReceiptCode => Object.hasOwn(RECEIPT_GLOSSES, text);
export const isObservationCode = (text: string): text is ObservationCode =>
  Object.hasOwn(OBSERVATION_GLOSSES, text);

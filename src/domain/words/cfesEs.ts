import type { CfeWords } from './shape.ts';

const ANULADO = 'El número no se puede volver a usar: queda anulado y la venta sale en un comprobante nuevo.';

export const WORDS_ES: CfeWords = {
  status: {
    PENDING: { label: 'en camino', means: 'Tiene su número y la DGI todavía no lo recibió.' },
    RECEIVED: { label: 'recibido', means: 'La DGI lo tiene y todavía no lo resolvió.' },
    ACCEPTED: { label: 'aceptado', means: 'La DGI lo aceptó.' },
    REJECTED: { label: 'rechazado', means: 'No tiene validez. La venta necesita un comprobante nuevo.' },
    OBSERVED: { label: 'observado', means: 'La DGI lo aceptó con observaciones.' },
  },
  stuck: {
    signing: {
      label: 'no se puede firmar',
      means:
        'No se puede abrir la clave privada de su certificado. Mientras tanto no se envía nada a la DGI.',
      mend: 'Configurar la clave de cifrado, o que la empresa cargue un certificado nuevo; después, reintentar.',
    },
    undecided: {
      label: 'sin resolución hace demasiado',
      means: 'La DGI responde, pero no lo resolvió en el tiempo de CFE_PATIENCE.',
      mend: 'Consultar a la DGI qué pasó; después, resolver consultando, o reintentar.',
    },
    'sobre.unknown_refusal': {
      label: 'sobre rechazado, código desconocido',
      means: 'La DGI rechazó el sobre con un código que ninguna regla contempla.',
      mend: 'Averiguar qué significa el código; después, reintentar o abandonar.',
    },
    'sobre.refused_without_reasons': {
      label: 'sobre rechazado sin motivos',
      means: 'La DGI muestra el sobre como rechazado y no dice por qué.',
      mend: 'Pedir los motivos a la DGI; después, reintentar o abandonar.',
    },
    'verdict.unknown_state': {
      label: 'resolución desconocida',
      means: 'La DGI da un estado que ninguna regla contempla.',
      mend: 'Consultar a la DGI qué significa; después, resolver consultando.',
    },
    'verdict.other_cfe': {
      label: 'resolución de otro comprobante',
      means: 'La resolución nombra otro tipo, número o momento de firma que los de este comprobante.',
      mend: 'Consultar a la DGI por el sobre. Si se restauró un respaldo, ver docs/backup.md.',
    },
    'duplicate.not_ours': {
      label: 'número usado por otro sistema',
      means: 'La DGI tiene este número por un sobre que no es nuestro.',
      mend: 'Averiguar quién lo usó; después, abandonar este comprobante y emitirlo de nuevo. El número no se debe anular.',
    },
    'authority.our_mistake': {
      label: 'consulta nuestra equivocada',
      means: 'La DGI no puede usar nuestra consulta (token, número).',
      mend: 'Informarlo a los desarrolladores, con el código.',
    },
    'authority.certificate': {
      label: 'certificado no aceptado',
      means: 'La DGI no acepta el certificado de la empresa.',
      mend: 'Que la empresa cargue un certificado válido; después, reintentar.',
    },
    'authority.caller': {
      label: 'certificado de titular desconocido',
      means: 'La DGI no puede saber por el certificado de quién es.',
      mend: 'Que la empresa cargue un certificado propio; después, reintentar.',
    },
    'authority.user': {
      label: 'usuario no autorizado',
      means: 'El usuario en la DGI no es válido o no está autorizado.',
      mend: 'Que la empresa lo corrija en el portal de la DGI; después, reintentar.',
    },
    'authority.no_permission': {
      label: 'sin permiso para el servicio',
      means: 'La empresa no puede usar el servicio de la DGI.',
      mend: 'Que la empresa pida el permiso en el portal de la DGI; después, reintentar.',
    },
    'authority.not_an_issuer': {
      label: 'no es emisor electrónico',
      means: 'La DGI no conoce el RUT como emisor electrónico.',
      mend: 'Que la empresa complete su habilitación; después, reintentar.',
    },
    'authority.certification_stage': {
      label: 'todavía en certificación',
      means: 'La empresa está en la etapa de certificación de la DGI.',
      mend: 'Que la empresa la complete; después, reintentar.',
    },
    'authority.unknown_code': {
      label: 'código desconocido',
      means: 'La DGI respondió un código que ninguna regla contempla.',
      mend: 'Averiguar qué significa; después, reintentar.',
    },
    'authority.signature_refused': {
      label: 'firma de la solicitud rechazada',
      means: 'La pasarela de la DGI no acepta la firma de nuestras solicitudes.',
      mend: 'Revisar el certificado y CFE_DGI_SOAP_HASH; después, reintentar.',
    },
    'authority.untrusted_signer': {
      label: 'respuesta firmada por un desconocido',
      means: 'Firma la respuesta un certificado que no figura acá entre los de la DGI.',
      mend: 'Ver si la DGI tiene un certificado nuevo y agregarlo (authority-certificate add); después, reintentar.',
    },
    'report.format': {
      label: 'reporte ilegible (R01)',
      means: 'La DGI no puede leer el reporte: un error nuestro.',
      mend: 'Hacerlo corregir; después, reintentar: el reporte se hace de nuevo.',
    },
    'report.company': {
      label: 'reporte de otra empresa (R02)',
      means: 'El RUC del reporte no es el del certificado o el de la solicitud.',
      mend: 'Cargar un certificado de la empresa; después, reintentar.',
    },
    'report.signature': {
      label: 'firma del reporte rechazada (R03)',
      means: 'La DGI no acepta la firma o el certificado del reporte.',
      mend: 'Cargar un certificado válido; después, reintentar.',
    },
    'report.content': {
      label: 'contenido del reporte rechazado (R04)',
      means: 'Lo que dice el reporte no cumple una regla, como una sucursal que no está registrada.',
      mend: 'Hacerlo corregir; después, reintentar.',
    },
    'report.unknown_refusal': {
      label: 'reporte rechazado, código desconocido',
      means: 'La DGI rechazó el reporte con un código que ninguna regla contempla.',
      mend: 'Averiguar qué significa el código; después, reintentar.',
    },
    'report.other_system': {
      label: 'reporte de otro sistema',
      means: 'La DGI tiene un reporte del día enviado por otro sistema de la empresa.',
      mend: 'Acordar con la empresa qué sistema reporta; después, reintentar, o resolver para dejar el día como está.',
    },
    'report.differs': {
      label: 'reporte con diferencias',
      means: 'La DGI tiene para ese día otros comprobantes que los del reporte.',
      mend: 'Compararlos; después, reintentar, o resolver para dejar el día como está.',
    },
    'report.unknown_state': {
      label: 'estado del reporte desconocido',
      means: 'La DGI muestra el reporte en un estado que ninguna regla contempla.',
      mend: 'Consultar a la DGI qué significa; después, reintentar.',
    },
    'report.last_sequence': {
      label: 'sin secuencias',
      means: 'El reporte del día ya se envió todas las veces posibles.',
      mend: 'Acordar con la DGI cómo corregir el día; después, resolver.',
    },
  },
  rejection: {
    E01: `El número ya fue reportado como anulado. ${ANULADO}`,
    E02: 'La DGI ya tiene el número, por otro sobre. El número sigue siendo válido.',
    E03: `El número no corresponde a la CAE. ${ANULADO}`,
    E04: `La firma no es válida. ${ANULADO}`,
    E05: `No cumple una validación del formato; el detalle dice cuál. ${ANULADO}`,
    E06: 'El importe supera los montos habituales. La empresa todavía puede aceptarlo en el portal de la DGI dentro de 60 días, si no hay otros motivos.',
    E07: `Se firmó fuera de las fechas de la CAE. ${ANULADO}`,
    E08: `El RUC no es el del complemento fiscal. ${ANULADO}`,
    E09: 'La CAE es de otro emisor o de otro tipo. El número se puede volver a usar.',
    E10: `El tipo de cambio no es válido. ${ANULADO}`,
    E11: `El comprobante y la CAE no coinciden en ser especiales. ${ANULADO}`,
    E12: `La DGI no tiene el comprobante al que hace referencia. ${ANULADO}`,
    E13: `La CAE es de otra clase. ${ANULADO}`,
    E14: 'Irregularidades en la situación de la empresa ante la DGI. Nada del comprobante puede corregirlas.',
    E15: 'La empresa es deudora contumaz y no informó su situación.',
    S01: 'El archivo del sobre no tiene el formato previsto.',
    S02: 'Los RUC del sobre, del certificado, de quien envía o de los comprobantes no coinciden.',
    S03: 'El certificado no es válido.',
    S04: 'El sobre no cumple el formato.',
    S05: 'La cantidad de comprobantes del sobre no es la que dice.',
    S06: 'El certificado del sobre no es el de sus comprobantes.',
    S07: 'El sobre supera el tamaño máximo.',
    S08: 'La DGI ya tiene un sobre con este número.',
    '11': 'El sobre supera el tamaño máximo.',
    abandoned: 'Soporte lo abandonó.',
    'reference.rejected': 'El comprobante que corrige fue rechazado, por eso nunca se envió.',
    'duplicate.not_ours': 'Otro sistema de la empresa usó su número, que no se debe anular.',
  },
  observation: 'Una observación: el comprobante es válido.',
  otherRejection: 'Un código que ninguna regla contempla.',
};

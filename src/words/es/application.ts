import type { ApplicationWords } from '../en/application.ts';

/** Textos de la hoja para la Postulación. */
export const applicationEs: ApplicationWords = {
  title: 'Postulación',
  about: 'Todos los campos del formulario de DGI, para copiar. Lo que el servicio no sabe lo completa usted.',
  form: 'El formulario',
  field: 'Campo',
  value: 'Valor',
  note: 'Nota',
  fillIn: 'para completar',
  statement: 'La declaración jurada',
  statementAbout:
    'La empresa declara que su software cumple diez funciones críticas, que DGI puede auditar. Esto respalda cada una.',
  item: 'Función',
  backed: 'Respaldo',
  download: 'Descargar en PDF',
  notes: {
    registry: 'Compárelo con el RUT; si difiere, corrija primero el RUT.',
    authority_mail:
      'Una casilla que leen personas: DGI envía allí el código de confirmación y sus resoluciones.',
    exchange_mail: 'La casilla a la que otros emisores envían sus comprobantes; de uso exclusivo.',
    web_service: 'Solo con un proveedor habilitado.',
    technical_mail: 'Solo con un proveedor habilitado; lo indica el operador del servicio.',
    website: 'Se imprime en cada e-Ticket.',
    types: 'Certifique solo lo que va a emitir: desde el primer día cada operación de ese tipo lleva su CFE.',
    test_date: 'Se pide con el usuario de Homologación.',
    confirmation_code: 'DGI lo envía al contacto de arriba mientras completa el formulario.',
  },
  items: {
    cae: {
      what: 'Archivo CAE: almacenamiento y control de acceso',
      backed:
        'Se guarda en la base de datos con la firma de DGI verificada; solo accede quien tiene un rol en la empresa, y cada carga queda en la auditoría.',
    },
    numbering: {
      what: 'Numeración controlada: cada número autorizado, una sola vez',
      backed:
        'El número y el comprobante se guardan en una sola sentencia; `numbers reconcile` demuestra que los números emitidos, anulados y en espera suman.',
    },
    backup: {
      what: 'Respaldo de los CFE y los datos, y publicación de los e-Tickets',
      backed:
        'Respaldos y archivo continuo de la base de datos con restauración ensayada; una página por comprobante, a la que lleva el enlace de su correo.',
    },
    sending: {
      what: 'Envío de los CFE y de los reportes diarios',
      backed:
        'Procesos durables envían cada sobre hasta que todos sus CFE tienen respuesta; un reporte por día, que se corrige automáticamente.',
    },
    exchange: {
      what: 'Intercambio con otros emisores',
      backed:
        'Cada CFE se envía por correo a su receptor electrónico después de la respuesta de DGI. El servicio no recibe ni responde comprobantes de proveedores.',
    },
    closing: {
      what: 'Control de cierre: cada envío termina recibido o rechazado',
      backed:
        'Ningún comprobante deja de estar pendiente sin respuesta de DGI; lo que espera a una persona se lista y se cuenta.',
    },
    contingency: {
      what: 'Contingencias',
      backed:
        'Los comprobantes esperan sin perderse mientras DGI no responde y se envían después. El papel de contingencia preimpreso lo guarda la empresa.',
    },
    formats: {
      what: 'Formatos de DGI, al día',
      backed: 'Cada XML es válido según los esquemas de DGI; cada regla indica su documento y versión.',
    },
    print: {
      what: 'Representación impresa de DGI, al día',
      backed: 'PDF con los recuadros, los tamaños de letra y el código QR de la norma, medidos en pruebas.',
    },
    standard: {
      what: 'Ningún comprobante contra el estándar de emisión, firma y envío',
      backed:
        'Todas las reglas se verifican antes de tomar un número; el comprobante que no cumple una se rechaza.',
    },
  },
};

import type { HomologationWords } from '../en/homologation.ts';

/** Textos de las pruebas. */
export const homologationEs: HomologationWords = {
  title: 'Prueba ante DGI',
  about:
    'Los comprobantes con los que la empresa supera las pruebas de DGI, todos en el ambiente de pruebas. Ninguno es un comprobante real.',
  set: 'Conjunto',
  sets: {
    TESTING: 'Testing: al menos 50 recibidos de cada uno de seis tipos',
    SIMULATION: 'Simulación de un proveedor: uno de cada tipo',
  },
  status: {
    RUNNING: { label: 'En curso', means: 'Se emiten los comprobantes y se esperan las respuestas de DGI.' },
    REPORTING: {
      label: 'Enviando el reporte',
      means: 'Todos los comprobantes tienen respuesta; se envía el reporte del día.',
    },
    READY_TO_PROCESS: {
      label: 'Falta un clic',
      means: 'DGI tiene el reporte. Lo que sigue se hace en su portal.',
    },
    FAILED: { label: 'Fallida', means: 'Terminó sin lo que DGI pide. Puede iniciar otra.' },
    STOPPED: { label: 'Detenida', means: 'Se detuvo. Los comprobantes ya emitidos igual reciben respuesta.' },
  },
  none: 'Todavía no hubo ninguna prueba.',
  start: 'Iniciar una prueba',
  startAbout:
    'Dura unos minutos y emite comprobantes de prueba reales en DGI. Iníciela un día sin otros comprobantes de prueba y bastante antes de la medianoche: todos deben firmarse el mismo día.',
  started: 'La prueba se inició.',
  each: 'Comprobantes de cada tipo (Testing)',
  stop: 'Detener la prueba',
  stopAbout: 'No se emite ningún otro comprobante. Los números ya usados quedan usados.',
  stopped: 'La prueba se detuvo.',
  receipts: 'Comprobantes',
  type: 'Tipo',
  wanted: 'Pedidos',
  received: 'Recibidos',
  rejected: 'Rechazados',
  pending: 'Pendientes',
  report: 'Reporte del día',
  noReport: 'Se envía después de la última respuesta.',
  left: 'Lo que falta',
  done: 'hecho',
  open: 'por hacer',
  day: 'Día de firma',
  why: 'Motivo',
  noSandbox: 'Esta cuenta no usa el ambiente de pruebas; pídaselo a quien opera el servicio.',
  checklist: {
    receipts: () => 'Suficientes comprobantes recibidos de cada tipo',
    annulment: () => 'Un número anulado',
    report: (day) => `Reporte del ${day} recibido por DGI`,
    process: (day) =>
      `En el portal de Testing de DGI: Consultas → Envíos realizados → el reporte del ${day}, en estado Recibido → «Procesar Reporte»; debe quedar en «Reporte Procesado»`,
    user: (day) => `Pida el usuario de Homologación; fecha de la prueba superada: ${day}`,
    application: () => 'Complete la Postulación; la hoja tiene todos los campos',
    declaration: () => 'En el portal de Proveedor Habilitado: «Firmar Declaración»',
  },
  failure: {
    'homologation.receipt_refused': 'Un comprobante no obtuvo número',
    'homologation.day_over':
      'Llegó la medianoche antes de emitir todos los comprobantes; todos deben firmarse el mismo día',
    'homologation.too_few': 'DGI recibió menos comprobantes de un tipo que los que pide',
    'homologation.report_failed': 'DGI no aceptó el reporte del día',
  },
};

import type { secondFactorEn } from '../en/secondFactor.ts';

export const secondFactorEs: typeof secondFactorEn = {
  title: 'Verificación en dos pasos',
  manage: 'Configurar, cambiar o desactivar',
  held: 'Activada: después de la contraseña se le pide un código de la aplicación de autenticación.',
  none: 'Desactivada: para ingresar alcanza la contraseña. Se recomienda activarla.',
  ofProvider: 'Usted ingresa con su organización, que administra la verificación en dos pasos.',
  byInvitation:
    'Usted es operador, y para los operadores la verificación en dos pasos es obligatoria. Se configura con el enlace de una invitación nueva: pídala a quien administra el servicio.',
  setUp: 'Configurar',
  setUpAbout:
    'Escriba primero su contraseña. Después se le muestra una clave para una aplicación de autenticación en su teléfono.',
  replace: 'Cambiar',
  replaceAbout:
    'Para otro teléfono u otra aplicación. La actual sigue valiendo hasta que escriba el primer código de la nueva.',
  present: 'Código de seis dígitos de la aplicación actual',
  show: 'Mostrar una clave nueva',
  off: 'Desactivar',
  offAbout: 'Desde ese momento alcanza la contraseña para ingresar.',
  offSubmit: 'Desactivar (se cierran las demás sesiones)',
  offDone: 'La verificación en dos pasos quedó desactivada. Las demás sesiones se cerraron.',
  newTitle: 'Clave nueva para la aplicación',
  newAbout:
    'Escanee el código QR con una aplicación de autenticación y escriba los seis dígitos que le muestra. Hasta entonces nada cambia; la clave vence en diez minutos.',
  newSubmit: 'Activar (se cierran las demás sesiones)',
  leave: 'Cancelar',
  done: 'La verificación en dos pasos quedó activada. Las demás sesiones se cerraron.',
  lost: 'Sin el teléfono o sin la contraseña no puede hacer nada de esto. Pida a soporte un enlace para configurar ambos de nuevo.',
};

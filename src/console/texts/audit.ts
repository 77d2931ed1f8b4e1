/** The words of the audit. */
const en = {
  title: 'Audit',
  empty: 'Nobody did anything of the kind.',
  at: 'When',
  who: 'Who',
  action: 'What',
  about: 'To what',
  enterprise: 'Enterprise',
  account: 'Account',
  reason: 'Why',
  outcome: 'Outcome',
  address: 'From',
  person: 'Person',
  subject: 'Id, or cfe_id with a RUT',
  accountId: 'Account id',
  from: 'From the day',
  to: 'To the day',
  service: 'the service',
  by: { cli: 'command line', console: 'console', support: 'support', account: 'API', service: '' },
};

const es: typeof en = {
  title: 'Auditoría',
  empty: 'Nadie hizo nada así.',
  at: 'Cuándo',
  who: 'Quién',
  action: 'Qué',
  about: 'Sobre qué',
  enterprise: 'Empresa',
  account: 'Cuenta',
  reason: 'Por qué',
  outcome: 'Resultado',
  address: 'Desde',
  person: 'Persona',
  subject: 'Id, o cfe_id con un RUT',
  accountId: 'Id de la cuenta',
  from: 'Desde el día',
  to: 'Hasta el día',
  service: 'el servicio',
  by: { cli: 'línea de comandos', console: 'consola', support: 'soporte', account: 'API', service: '' },
};

export const audit = { en, es };

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { addAuthorityCertificates } from '../../../../src/commands/authority/addAuthorityCertificates.ts';
import { nextIdemisor } from '../../../../src/db/authority/sobres.ts';
import { Enterprise, Warning } from '../../../../src/db/entities/enterprises.ts';
import { dateText } from '../../../../src/domain/values/figures.ts';
import { anAccount } from '../../../support/commandDeps.ts';
import {
  type Browser,
  formTokenIn,
  startConsole,
  type TestConsole,
} from '../../../support/console/console.ts';
import { aPng } from '../../../support/console/pictures.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database/database.ts';
import {
  anEnterprise,
  aReadyEnterprise,
  giveCae,
  giveCertificate,
} from '../../../support/enterprises/enterprises.ts';
import {
  AUTHORITY_RUT_VARIABLES,
  aCertificate,
  anAuthority,
  aRut,
  day,
} from '../../../support/receipts/papers.ts';
import { givePendingCfes } from '../../../support/receipts/pendingCfes.ts';

const PASSWORD = 'la clave que nadie ve';
let db: TestDatabase;
let site: TestConsole;
let account: string;
let owner: Browser;
let admin: Browser;
beforeAll(async () => {
  db = await cloneDatabase();
  site = await startConsole(db.orm);
  account = await anAccount(db.orm);
  owner = await site.as(await site.aMember(account, 'OWNER'));
  admin = await site.as(await site.anOperator('ADMIN'));
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
  await db[Symbol.asyncDispose]();
});

/** Sends a form of an enterprise's page, and tells what the page that follows says it did, in Spanish unless told. */
async function act(
  browser: Browser,
  path: string,
  fields: Record<string, string | Buffer>,
  language = 'es',
): Promise<string> {
  const form_token = formTokenIn((await browser.get('/help')).text);
  const headers = { 'accept-language': language };
  const { to, status, text } = await browser.post(path, { ...fields, form_token }, headers);
  if (status !== 303) return `${status} ${/<h1>([^<]*)/.exec(text)?.[1]}`;
  const shown = await browser.get(String(to).split('#')[0] ?? '', headers);
  return /role="status">([^<]*)/.exec(shown.text)?.[1] ?? '';
}
const read = async (browser: Browser, path: string): Promise<string> =>
  (await browser.get(path, { 'accept-language': 'en' })).text;
/** The RUTs of the rows of a list, in order. */
const ruts = (text: string): string[] =>
  [...text.matchAll(/href="\/enterprises\/(\d+)/g)].map(([, rut]) => rut ?? '');

describe('why an enterprise is not ready', () => {
  test('each fact that lacks is told with what to do about it, and gone once it is there', async () => {
    const rut = await anEnterprise(db.orm, account, { planId: 'FREE', frequencyId: 'MONTHLY' });
    const before = await read(owner, `/enterprises/${rut}`);
    const missingIn = (page: string) =>
      [...page.matchAll(/<li><a [^>]*><strong>([^<]*)/g)].map(([, fact]) => fact);
    // A plan it has.
    expect(missingIn(before)).toEqual([
      'permission for production',
      'valid certificate',
      'CAE in force',
      'start date',
    ]);
    expect(before).toContain('Upload below the .p12');

    await giveCertificate(db.orm, rut);
    await giveCae(db.orm, rut);
    await db.orm.em.fork().nativeUpdate(Enterprise, { rut }, { permissions: ['PROD'] });
    const after = await read(owner, `/enterprises/${rut}`);
    expect(missingIn(after)).toEqual(['start date']);
  });

  test('one that became ready and lost its certificate says so; a suspended one says why to operators alone', async () => {
    const rut = await aReadyEnterprise(db.orm, account, { caes: [{ expirationDate: day(-1) }] });
    expect(await read(owner, `/enterprises/${rut}`)).toContain('It cannot issue at the moment.');
    expect(await act(admin, `/enterprises/${rut}/suspend`, { reason: 'Falta de pago' })).toContain(
      'suspendida',
    );
    expect(await read(admin, `/enterprises/${rut}`)).toContain('Falta de pago');
    expect(await read(owner, `/enterprises/${rut}`)).not.toContain('Falta de pago');
  });
});

describe('lists', () => {
  test('are narrowed by what lacks, status and what ends, and hold nobody else’s', async () => {
    const [ours, theirs] = [await anAccount(db.orm), await anAccount(db.orm)];
    const names = { legalName: 'Almacén 50% S.A.', tradeName: null };
    const pending = await anEnterprise(db.orm, ours, names);
    const soon = await aReadyEnterprise(db.orm, ours, { caes: [{ expirationDate: day(6) }] });
    const fine = await aReadyEnterprise(db.orm, ours, { caes: [{ expirationDate: day(60) }] });
    const usedUp = await aReadyEnterprise(db.orm, ours, {
      caes: [{ expirationDate: day(2), to: 10, last: 10 }, { serie: 'B' }],
    });
    const other = await aReadyEnterprise(db.orm, theirs, { caes: [{ expirationDate: day(1) }] });
    const member = await site.as(await site.aMember(ours, 'VIEWER'));
    const listed = async (query: string) => ruts(await read(member, `/enterprises${query}`));

    expect(await listed('')).toEqual([pending, soon, fine, usedUp].toSorted());
    expect(await listed('?status=PENDING')).toEqual([pending]);
    expect(await listed('?lacks=plan')).toEqual([pending]);
    expect(await listed('?lacks=okCae')).toEqual([pending]);
    expect(await listed('?ends=7')).toEqual([soon]);
    expect(await listed('?text=50%25')).toEqual([pending]);
    expect(await listed(`?text=${fine.slice(0, 11)}`)).toEqual([fine]);
    const csv = await read(member, '/enterprises?format=csv&status=PENDING');
    expect(csv).toContain(
      `${pending},Almacén 50% S.A.,PENDING,prodPermission validCertificate plan okCae dateCome,,,`,
    );

    // Which CAEs end this week.
    expect(ruts(await read(member, '/warnings'))).toEqual([soon]);
    expect(ruts(await read(member, '/warnings?within=90'))).toEqual([soon, fine]);
    expect(ruts(await read(member, '/warnings?kind=certificate'))).toEqual([]);
    expect(ruts(await read(admin, '/warnings'))).toContain(other);
  });
});

test('a CAE that does not go on where another system stopped is told with what to do about it', async () => {
  const start = { number: 500, findings: ['before_unknown' as const, 'first_known' as const] };
  const rut = await aReadyEnterprise(db.orm, account, { caes: [{}, { serie: 'B', start }] });
  const page = await read(owner, `/enterprises/${rut}`);
  expect(page).toContain('Ready to issue. Please check:');
  expect(page).toContain('<strong>DGI does not know e-Ticket B 499</strong>');
  expect(page).toContain('<strong>DGI already knows e-Ticket B 500</strong>');
  const { text } = await owner.get(`/enterprises/${rut}`, { 'accept-language': 'es' });
  expect(text).toContain('Verifique cuál fue el último que usó el sistema anterior.');
});

describe('numbers running low', () => {
  const FAR = day(700);
  /** The panel of an enterprise's page that says where it stands. */
  const standing = async (browser: Browser, rut: string): Promise<string> =>
    /Status<\/h2>.*?<\/section>/s.exec(await read(browser, `/enterprises/${rut}`))?.[0] ?? '';

  test('are told of by the rule of the warnings, though no CAE ends for years; fresh ones beside end it', async () => {
    const ours = await anAccount(db.orm);
    const theirs = await aReadyEnterprise(db.orm, await anAccount(db.orm), {
      caes: [{ expirationDate: FAR, to: 100, last: 100 }],
    });
    const of = (...caes: Parameters<typeof giveCae>[2][]) =>
      aReadyEnterprise(db.orm, ours, {
        caes: caes.map((wishes) => ({ expirationDate: FAR, ...wishes })),
      });
    const tenth = await of({ to: 100, last: 90 });
    const few = await of({ to: 100, last: 91 });
    const none = await of({ to: 100, last: 100 });
    const beside = await of({ to: 100, last: 100 }, { serie: 'B', to: 100 });
    const otherType = await of({}, { type: 'EFACTURA', to: 100, last: 100 });
    const member = await site.as(await site.aMember(ours, 'VIEWER'));
    const low = [few, none, otherType].toSorted();

    expect(ruts(await read(member, '/warnings')).toSorted()).toEqual(low);
    expect(ruts(await read(member, '/warnings?kind=low')).toSorted()).toEqual(low);
    expect(ruts(await read(member, '/warnings?kind=cae'))).toEqual([]);
    expect(ruts(await read(admin, '/warnings?kind=low'))).toContain(theirs);
    const csv = await read(member, '/warnings?kind=low&format=csv');
    expect(csv).toContain(`${none},Comercial Ñandú S.A.,ETICKET,low,,,${FAR},0\r\n`);
    expect(csv).toContain(`${few},Comercial Ñandú S.A.,ETICKET,low,,,${FAR},9\r\n`);

    for (const rut of [tenth, beside]) expect(await standing(member, rut)).toContain('Ready to issue.');
    for (const rut of low) expect(await standing(member, rut)).not.toContain('Ready to issue.');
    expect(await standing(member, few)).toContain('Few numbers of e-Ticket are left');
    expect(await standing(member, none)).toContain('No numbers of e-Ticket are left');
    expect(await standing(member, otherType)).toContain('No numbers of e-Factura are left');
    const marked = (text: string) => [...text.matchAll(/<span class="mark bad">0<\/span>/g)].length;
    expect(marked(await read(member, `/enterprises/${none}`))).toBe(1);
    expect(marked(await read(member, `/enterprises/${beside}`))).toBe(0);

    await giveCae(db.orm, none, { serie: 'B', from: 101, to: 200, expirationDate: FAR });
    expect(ruts(await read(member, '/warnings')).toSorted()).toEqual([few, otherType].toSorted());
    expect(await standing(member, none)).toContain('Ready to issue.');
  });

  test('by their pace are told of where the warnings were, and only as long as it holds', async () => {
    const ours = await anAccount(db.orm);
    // Fifty in a day leave ten of sixty: a sixth, but for five days of four weeks.
    const rut = await aReadyEnterprise(db.orm, ours, { caes: [{ expirationDate: FAR, to: 60 }] });
    await givePendingCfes(db.orm, {
      accountId: ours,
      rut,
      count: 50,
      from: new Date(Date.now() - 86_400_000),
    });
    await db.orm.em
      .fork()
      .execute(
        `insert into cfe_sequence (rut, environment, type, last) values (?, 'production', 'ETICKET', 50)`,
        [rut],
      );
    const member = await site.as(await site.aMember(ours, 'VIEWER'));
    expect(await standing(member, rut)).toContain('The numbers of e-Ticket run out in 5 days');
    await db.orm.em.fork().insert(Warning, { rut, about: 'cae.low/ETICKET', givenAt: new Date() });
    expect(ruts(await read(member, '/warnings'))).toEqual([rut]);
    expect(ruts(await read(member, '/'))).toContain(rut);

    await giveCae(db.orm, rut, { serie: 'B', from: 61, to: 1_000, expirationDate: FAR });
    expect(ruts(await read(member, '/warnings'))).toEqual([]);
    expect(await standing(member, rut)).toContain('Ready to issue.');
  });
});

test('an enterprise’s page leads to all that is of it, for whoever may go there', async () => {
  const rut = await aReadyEnterprise(db.orm, account);
  const places = async (browser: Browser): Promise<string[]> => {
    const [line = ''] = /<p class="places">.*?<\/p>/s.exec(await read(browser, `/enterprises/${rut}`)) ?? [];
    return [...line.matchAll(/href="\/([^"]*)"/g)].map(([, path]) => path ?? '');
  };
  const everyone = [
    `enterprises/${rut}/customers`,
    `cfes?rut=${rut}`,
    `deliveries?rut=${rut}`,
    `enterprises/${rut}/homologation`,
    `enterprises/${rut}/postulacion`,
  ];
  const viewer = await site.as(await site.aMember(account, 'VIEWER'));
  expect(await places(viewer)).toEqual(everyone);
  expect(await places(owner)).toEqual([...everyone, `exports?rut=${rut}`]);
  const ofOperators = [...everyone, `stuck?rut=${rut}`, `audit?rut=${rut}`];
  expect((await places(admin)).toSorted()).toEqual([...ofOperators, `exports?rut=${rut}`].toSorted());
  for (const path of await places(admin)) expect((await admin.get(`/${path}`)).status).toBe(200);
});

describe('certificates and CAEs are uploaded without script', () => {
  test('a certificate: refused in words of the reader’s language, taken, and its password kept nowhere', async () => {
    const rut = await anEnterprise(db.orm, account);
    const path = `/enterprises/${rut}/certificate`;
    const file = Buffer.from(aCertificate({ rut, password: PASSWORD }).certB64, 'base64');
    const other = Buffer.from(aCertificate({ rut: aRut(), password: PASSWORD }).certB64, 'base64');

    expect(await act(owner, path, { file, password: `${PASSWORD}!` })).toBe(
      'La contraseña del archivo no es correcta.',
    );
    expect(await act(owner, path, { file, password: `${PASSWORD}!` }, 'en')).toBe(
      'The password is not the password of this file.',
    );
    expect(await act(owner, path, { file: other, password: PASSWORD })).toBe(
      'El certificado es de otro RUT.',
    );
    expect(await act(owner, path, { file: Buffer.alloc(0), password: PASSWORD })).toBe(
      'Archivo (.p12): está vacío.',
    );
    expect(await act(owner, path, { file: Buffer.alloc(200_000), password: PASSWORD })).toContain('413');
    expect(await act(owner, path, { file, password: PASSWORD })).toContain(`hasta el ${dateText(day(365))}`);

    const shown = await read(owner, `/enterprises/${rut}`);
    expect(shown).toContain(day(365));
    const audit = await db.orm.em.fork().execute('select * from audit where rut = ?', [rut]);
    expect(audit).toMatchObject([
      { action: 'certificate.upload', actor: expect.stringMatching(/^console:persona/) },
    ]);
    expect(JSON.stringify([site.lines, audit]) + shown).not.toContain(PASSWORD);
  });

  test('a CAE that the authority signed, from the number that is told', async () => {
    const rut = await anEnterprise(db.orm, account);
    const authority = anAuthority('of the console');
    await addAuthorityCertificates(
      { ...site.deps, authorityRuts: AUTHORITY_RUT_VARIABLES },
      { pem: authority.certificatePem },
    );
    const file = Buffer.from(authority.caeXml({ rut, from: 1, to: 500 }));
    const path = `/enterprises/${rut}/caes`;
    expect(await act(owner, path, { file, start: '501' })).toContain('dentro del rango');
    expect(await act(owner, path, { file, start: 'uno' })).toBe('Primer número a usar: no es un número.');
    expect(await act(owner, path, { file, start: '11' })).toContain('serie A, del 1 al 500');
    expect(await act(owner, path, { file, start: '11' })).toContain('ya se había cargado');
    expect(await read(owner, `/enterprises/${rut}`)).toMatch(/<td class="figure">490<\/td>/);
  });

  test('a logo, shown from here and removed again', async () => {
    const rut = await anEnterprise(db.orm, account);
    const path = `/enterprises/${rut}/logo`;
    expect(await act(owner, path, { file: Buffer.from('no picture') })).toContain('PNG o JPEG');
    await act(owner, path, { file: aPng(4, 4) });
    expect(await read(owner, `/enterprises/${rut}`)).toContain(`src="${path}"`);
    const { headers } = await owner.get(path);
    expect(headers.get('content-type')).toBe('image/png');
    await act(owner, `${path}/remove`, {});
    expect((await owner.get(path)).status).toBe(404);
  });

  test('a form that takes a file takes nothing else, and the others take no file', async () => {
    const rut = await anEnterprise(db.orm, account);
    const [file, form_token] = [Buffer.from('x'), formTokenIn((await owner.get('/help')).text)];
    const plain = { file: 'x', password: 'x', form_token };
    expect((await owner.post(`/enterprises/${rut}/certificate`, plain)).status).toBe(403);
    expect((await owner.post(`/enterprises/${rut}/logo/remove`, { file, form_token })).status).toBe(403);
    const headers = { 'content-type': 'multipart/form-data; boundary=none' };
    expect((await owner.post(`/enterprises/${rut}/certificate`, plain, headers)).status).toBe(403);
  });
});

/** The form of the data as a browser has it, with what somebody changes. */
const data = (changes: Record<string, string>, was: Record<string, string> = {}): Record<string, string> => ({
  ...DATA,
  ...changes,
  was: JSON.stringify({ ...DATA, ...was }),
});
const DATA = {
  legal_name: 'Comercial Ñandú S.A.',
  trade_name: 'Ñandú',
  street_name: 'Rincón 501',
  locality_name: 'Montevideo',
  department_name: 'Montevideo',
  branch: '1',
  phone_number: '',
  email: '',
  website: '',
  issuer_since: '',
  resolution: '',
  exemption_norm: '',
  vat_up_to_date: 'true',
  small_tickets: 'SEND',
  plan: '',
  start: '',
};

describe('data and branches', () => {
  test('what differs is changed, what was emptied is removed, and each fault names its field', async () => {
    const rut = await anEnterprise(db.orm, account, { phoneNumber: '24001234', website: 'viejo.example' });
    const path = `/enterprises/${rut}/data`;
    const kept = { phone_number: '24001234', website: 'viejo.example' };
    expect(await act(owner, path, data(kept, kept))).toBe('No había cambios para guardar.');
    const faulty = { ...kept, legal_name: 'x'.repeat(200), email: 'nadie', start: 'mañana' };
    expect(await act(owner, path, data(faulty, kept), 'en')).toBe(
      'Issues from (Montevideo time): is not a date and time. Legal name: is too long. E-mail for replies: is not an e-mail address.',
    );
    const changes = {
      ...kept,
      website: '',
      email: 'ventas@example.com',
      branch: '3',
      start: '2026-12-01T09:00',
    };
    expect(await act(owner, path, data({ ...changes, plan: '["FREE","MONTHLY"]' }, kept))).toContain(
      'guardados',
    );
    expect(await db.orm.em.fork().findOneOrFail(Enterprise, { rut })).toMatchObject({
      phoneNumber: '24001234',
      website: null,
      email: 'ventas@example.com',
      branch: 3,
      planId: 'FREE',
      scheduledReadyDate: new Date('2026-12-01T12:00:00Z'),
      legalName: 'Comercial Ñandú S.A.',
    });
  });

  test('what a colleague changed since the form was opened stays', async () => {
    const rut = await anEnterprise(db.orm, account);
    await act(owner, `/enterprises/${rut}/data`, data({ email: 'nueva@example.com' }));
    // Opened before that: its e-mail is still empty.
    await act(admin, `/enterprises/${rut}/data`, data({ phone_number: '24001234' }));
    expect(await db.orm.em.fork().findOneOrFail(Enterprise, { rut })).toMatchObject({
      email: 'nueva@example.com',
      phoneNumber: '24001234',
    });
  });

  test('a branch is added, changed and closed; whose code is another’s is refused', async () => {
    const rut = await anEnterprise(db.orm, account);
    const at = {
      street_name: 'Uruguay 1',
      locality_name: 'Salto',
      department_name: 'Salto',
      phone_number: '',
    };
    expect(await act(owner, `/enterprises/${rut}/branches`, { ...at, branch: '2' })).toContain('agregada');
    expect(await act(owner, `/enterprises/${rut}/branches`, { ...at, branch: '2' })).toContain('Ya hay');
    expect(await act(owner, `/enterprises/${rut}/branches/2`, { ...at, locality_name: 'Rivera' })).toContain(
      'modificada',
    );
    expect(await read(owner, `/enterprises/${rut}`)).toContain('Rivera');
    const csv = await read(owner, `/enterprises/${rut}?format=csv&list=branches`);
    expect(csv).toMatch(
      /^branch,street_name,locality_name,department_name,phone_number,closed_at\r\n1,.*\r\n2,Uruguay 1,Rivera,Salto,,\r\n$/,
    );
    expect(await act(owner, `/enterprises/${rut}/branches/1/close`, {})).toContain('casa central');
    expect(await act(owner, `/enterprises/${rut}/branches/2/close`, {})).toContain('cerrada');
    expect(await read(owner, `/enterprises/${rut}`)).not.toContain('Rivera');
  });
});

describe('acts of operators', () => {
  test('access of other accounts are given and withdrawn; others learn of no account but theirs', async () => {
    const [rut, guests] = [await anEnterprise(db.orm, account), await anAccount(db.orm)];
    const guest = await site.as(await site.aMember(guests, 'OWNER'));
    const reason = 'Lo pidió la empresa';
    expect((await guest.get(`/enterprises/${rut}`)).status).toBe(404);
    expect(
      await act(admin, `/enterprises/${rut}/grants`, { account: guests, role: 'VIEWER', reason: '' }),
    ).toBe('Motivo (queda en la auditoría): está vacío.');
    expect((await guest.get(`/enterprises/${rut}`)).status).toBe(404);
    expect(
      await act(admin, `/enterprises/${rut}/grants`, { account: guests, role: 'VIEWER', reason }),
    ).toContain('tiene acceso');
    const shown = await read(guest, `/enterprises/${rut}`);
    expect(shown).not.toContain(account);
    expect([...shown.matchAll(/<td class="">(owner|viewer)<\/td>/g)].map(([, role]) => role)).toEqual([
      'viewer',
    ]);
    expect(shown).not.toContain('action="/enterprises/');
    expect(
      await act(admin, `/enterprises/${rut}/grants`, { account: 'x', role: 'VIEWER', reason }),
    ).toContain('No hay');
    expect(await act(admin, `/enterprises/${rut}/grants/remove`, { account: guests, reason })).toContain(
      'ya no tiene',
    );
    expect((await guest.get(`/enterprises/${rut}`)).status).toBe(404);
    const acts = await db.orm.em
      .fork()
      .execute('select action, reason from audit where rut = ? order by id', [rut]);
    expect(acts).toEqual(['grant.set', 'grant.remove'].map((action) => ({ action, reason })));
  });

  test('what a transfer takes out stands above its form, until a certificate proves whose the enterprise is', async () => {
    const rut = await anEnterprise(db.orm, account, { website: 'https://trampa.example/' });

    expect(await read(admin, `/enterprises/${rut}`)).toContain('trade_name, website');
    await giveCertificate(db.orm, rut);
    const proven = await read(admin, `/enterprises/${rut}`);
    expect(proven).not.toContain('trade_name, website');
    expect(proven).toContain('Certificate, DGI access, receipts and the access of other accounts stay');
  });

  test('suspend, resume, permissions, transfer and reporting obligation are done once, with reason and person in the audit', async () => {
    const [rut, next] = [await aReadyEnterprise(db.orm, account), await anAccount(db.orm)];
    const at = (path: string) => `/enterprises/${rut}/${path}`;
    const reason = 'Acordado con la empresa';
    expect(await act(admin, at('suspend'), { reason: '' })).toBe(
      'Motivo (queda en la auditoría): está vacío.',
    );
    await act(admin, at('suspend'), { reason });
    expect(await act(admin, at('suspend'), { reason })).toContain('Ya estaba hecho');
    expect(await act(admin, at('resume'), { reason: '' })).toBe(
      'Motivo (queda en la auditoría): está vacío.',
    );
    await act(admin, at('resume'), { reason });
    await act(admin, at('permissions'), { act: 'withdraw', permission: 'PROD', reason });
    expect(
      await act(admin, at('reporting-obligation'), { act: 'start', from: '2026-12-01', reason }),
    ).toContain('Guardado');
    expect(await act(admin, at('transfer'), { account: next, reason })).toContain('otra cuenta');
    expect((await owner.get(`/enterprises/${rut}`)).status).toBe(404);
    const audit = await db.orm.em
      .fork()
      .execute('select action, reason, actor from audit where rut = ? order by id', [rut]);
    expect(audit.map(({ action, reason: why }) => [action, why])).toEqual([
      ['enterprise.suspend', reason],
      ['enterprise.resume', reason],
      ['enterprise.withdraw_permission', reason],
      ['report.start', reason],
      ['enterprise.transfer', reason],
    ]);
  });

  test('a company moves in on a day, and the next sobre gets a number above all that were used', async () => {
    const rut = await aReadyEnterprise(db.orm, account);
    const at = (path: string) => `/enterprises/${rut}/${path}`;
    const reason = 'Viene de otro proveedor';
    expect(await act(admin, at('migrate'), { from: day(-10), idemisor: 'x', reason })).toContain('Número');
    expect(await act(admin, at('migrate'), { from: day(10), idemisor: '5000000001', reason })).toContain(
      'Número del próximo sobre: 5000000001.',
    );
    const sobre = { environment: 'production', reason };
    // A slip, put right before a sobre has taken a number from it.
    for (const next of ['9000000009', '5000000008'])
      expect(await act(admin, at('idemisor'), { ...sobre, next })).toContain('lleva ese número');
    const taken = await db.orm.em
      .fork()
      .transactional((em) => nextIdemisor(em, { rut, environment: 'production' }, day(10)));
    expect(taken).toBe(5_000_000_008n);
    expect(await act(admin, at('idemisor'), { ...sobre, next: '5000000003' })).toContain('ya se usó');
    expect(await act(admin, at('idemisor'), { ...sobre, next: '50.000' })).toContain(
      'Número del próximo sobre:',
    );
    expect(await act(admin, at('migrate'), { from: day(-60), idemisor: '', reason })).toContain('31 días');
    const rows = await db.orm.em
      .fork()
      .execute(
        'select from_date::text, (select last from sobre_sequence where rut = ?) from reporting_obligation where rut = ?',
        [rut, rut],
      );
    expect(rows).toEqual([{ from_date: day(10), last: '5000000008' }]);
  });

  test('the UI value of a year is set, shown with its source, and corrected', async () => {
    const value = { year: '2048', value: '7,1234', source: 'INE, 31/12/2047', kind: 'estimate' };
    expect(await act(admin, '/rates/ui', { ...value, value: '0' })).toContain('Pesos:');
    expect(await act(admin, '/rates/ui', value)).toContain('Guardado');
    expect(await act(admin, '/rates/ui', { ...value, value: '7,1235', kind: 'published' })).toContain(
      'Guardado',
    );
    const page = await read(admin, '/rates');
    expect(page).toContain('INE, 31/12/2047');
    expect(page).toContain('7.1235');
    expect(page).not.toContain('7.1234');
    expect((await owner.send('/rates/ui', value)).status).toBe(403);
  });

  test('numbers are annulled by hand, listed and told as CSV; those that were given are not', async () => {
    const rut = await aReadyEnterprise(db.orm, account, { caes: [{ last: 5 }] });
    const span = { type: 'ETICKET', serie: 'A', environment: 'production', reason: 'Impresos en papel' };
    const path = `/enterprises/${rut}/annulments`;
    expect(await act(owner, path, { ...span, from: '5', to: '7' })).toContain('si ninguno se usó');
    expect(await act(owner, path, { ...span, from: '11', to: '20' })).toBe('Números anulados: 10.');
    const csv = await read(owner, `/enterprises/${rut}?format=csv&list=annulments`);
    expect(csv).toContain(`ETICKET,A,11,20,by_hand,Impresos en papel,,${day(0)}`);
    expect(csv).toContain(',production\r\n');
    expect(await read(owner, `/enterprises/${rut}`)).toContain(
      'by hand <span class="soft">Impresos en papel</span>',
    );
    const caes = await read(owner, `/enterprises/${rut}?format=csv&list=caes`);
    expect(caes).toContain('cfe_type,series,number_start,number_end,last_number,numbers_left,days_left,');
    expect(caes).toMatch(/\r\nETICKET,A,1,10000,5,9985,,/);
  });
});

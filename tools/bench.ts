/** `npm run bench -- NAME`: runs one of the benchmarks of test/bench. */
const BENCHES: Readonly<Record<string, () => Promise<{ run(): void | Promise<void> }>>> = {
  api: () => import('../test/bench/api.ts'),
  backlog: () => import('../test/bench/backlog.ts'),
  burst: () => import('../test/bench/burst.ts'),
  console: () => import('../test/bench/console.ts'),
  exports: () => import('../test/bench/exports.ts'),
  deliveries: () => import('../test/bench/deliveries.ts'),
  p99: () => import('../test/bench/p99.ts'),
  pdf: () => import('../test/bench/pdf.ts'),
  profile: () => import('../test/bench/tools/profile.ts'),
  gate: () => import('../test/bench/gate.ts'),
  post: () => import('../test/bench/post.ts'),
  reports: () => import('../test/bench/reports.ts'),
  sign: () => import('../test/bench/sign.ts'),
  throughput: () => import('../test/bench/throughput.ts'),
};

const [name = ''] = process.argv.slice(2);
const load = BENCHES[name];
if (!load) {
  console.error(`usage: npm run bench -- ${Object.keys(BENCHES).join('|')}`);
  process.exit(2);
}
await (await load()).run();

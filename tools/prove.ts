/**
 * Searches drawn schedules for runs that break what is proved: npm run prove:simulated -- --schedules 1000000 --seed 7 [--only name] (npm run build first)
 */
import { parseArgs } from "node:util";
import { type Drawn, look, subjects } from "./prove/proved.ts";
import { lookAtExamples } from "./prove/examples.ts";

const { values } = parseArgs({
  options: {
    schedules: { type: "string", default: "20000" },
    seed: { type: "string", default: "1" },
    only: { type: "string" },
  },
});

const looks = new Map([
  ...lookAtExamples,
  ...[...subjects].map(([name, subject]) => [name, (drawn: Drawn) => look(subject, drawn)] as const),
]);
const wanted = [...looks].filter(([name]) => values.only === undefined || name === values.only);
if (wanted.length === 0) {
  process.stderr.write(`There is no "${values.only ?? ""}": ${[...looks.keys()].join(", ")}.\n`);
  process.exit(2);
}
const share = Math.ceil(Number(values.schedules) / wanted.length);
const began = performance.now();
let [failed, played, sentences] = [0, 0, 0];
for (const [name, lookAt] of wanted) {
  const { proved, simulation } = await lookAt({ seed: Number(values.seed), schedules: share });
  const { schedules, counts, failure } = simulation;
  played += schedules;
  sentences += proved.length;
  process.stdout.write(
    `${name}: ${proved.length} proved, ${schedules} schedules, ${counts["calls"] ?? 0} calls\n`,
  );
  if (failure === undefined) continue;
  failed += 1;
  process.stdout.write(
    `\nseed ${String(failure.seed)}, ${failure.steps} steps\n${failure.message}\n\n${failure.test}\n`,
  );
}
const seconds = Math.round((performance.now() - began) / 1000);
process.stdout.write(
  `${sentences} proved sentences, ${played} schedules, seed ${values.seed}, ${seconds} s: ${failed === 0 ? "none broke" : `${failed} agents broke one`}.\n`,
);
process.exitCode = failed === 0 ? 0 : 1;

/**
 * Abuses approvals in every known way, so many times each, and checks the payments: npm run approvals:single-use -- --count 10000. Ends with 1
 * when something was paid twice or changed, or refused with another code than its own.
 */
import { parseArgs } from "node:util";
import "./compile-cache.ts";
import { abuse, expectations, type Scenario } from "./single-use/scenarios.ts";

const { values } = parseArgs({
  options: { count: { type: "string", default: "200" }, batch: { type: "string", default: "200" } },
});
const [count, batch] = [Number(values.count), Number(values.batch)];
let faults = 0;
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a record are its scenarios
for (const scenario of Object.keys(expectations) as Scenario[]) {
  const codes = new Map<string, number>();
  let paid = 0;
  for (let left = count; left > 0; left -= batch) {
    const ended = await abuse(scenario, Math.min(batch, left));
    paid += ended.paid;
    for (const [code, times] of Object.entries(ended.codes)) codes.set(code, (codes.get(code) ?? 0) + times);
    for (const complaint of ended.complaints) console.log(`${scenario}: ${complaint}`);
    faults += ended.complaints.length;
  }
  const answers = [...codes].map(([code, times]) => `${times} ${code}`).join(", ");
  console.log(`${scenario}: ${count} approvals, answers: ${answers}; ${paid} payments`);
}
console.log(`${faults} faults`);
process.exitCode = faults === 0 ? 0 : 1;

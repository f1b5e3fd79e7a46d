/**
 * Lets spin go through all states of the machine of a run (table.ts), and checks that it finds each fault of the rules: npm run machine. Needs spin and gcc
 * (apt-get install spin gcc). Ends with 1 where a rule does not hold, or a fault is not found.
 */
import { mutations } from "./mutations.ts";
import { promelaOf } from "./promela.ts";
import { checked, hasSpin } from "./spin.ts";
import type { Bounds } from "./table.ts";

const sizes: readonly Bounds[] = [
  { calls: 1, owners: 2, crashes: 1, thefts: 1 },
  { calls: 1, owners: 2, crashes: 2, thefts: 2 },
];
/** The size in which faults are looked for. */
const small: Bounds = { calls: 1, owners: 2, crashes: 1, thefts: 1 };

if (!hasSpin()) {
  console.error("spin and gcc are needed: apt-get install spin gcc");
  process.exit(1);
}
let isGood = true;
for (const bounds of sizes) {
  const { states, depth, seconds, isWhole, broken = "nothing", moves } = checked(promelaOf(bounds));
  const within = Object.entries(bounds).map(([name, most]) => `${most} ${name}`);
  console.log(`${within.join(", ")}: ${states} states, depth ${depth}, ${seconds} s, broken: ${broken}`);
  isGood &&= isWhole && broken === "nothing";
  if (broken !== "nothing") console.log(moves.join(", "));
}
for (const { says, table, breaks } of mutations) {
  const { broken, moves } = checked(promelaOf(small, table), { shortest: true });
  isGood &&= broken === breaks;
  console.log(
    `${broken === breaks ? "found" : "NOT FOUND"}: ${says}; ${broken ?? "nothing"} after ${moves.length} moves`,
  );
}
process.exitCode = isGood ? 0 : 1;

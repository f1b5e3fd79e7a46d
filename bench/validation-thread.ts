/**
 * Compares the time that the program's thread spends on validating a value with the time that it would spend on sending the value to a worker and taking it back:
 * `npx node bench/validation-thread.ts`. The figures stand in docs/decisions/0028-validation-stays-on-the-thread.md.
 */
import { deserialize, serialize } from "node:v8";
import { toSchema } from "../src/schema/to-schema.ts";
import type { JsonSchema } from "../src/schema/schema.ts";

const row: JsonSchema = {
  type: "object",
  properties: {
    id: { type: "integer" },
    name: { type: "string", maxLength: 100 },
    tags: { type: "array", items: { type: "string" }, uniqueItems: true },
    price: { type: "number", minimum: 0 },
    place: {
      type: "object",
      properties: { city: { type: "string" }, zip: { type: "string", pattern: "^[0-9]{5}$" } },
      required: ["city"],
    },
  },
  required: ["id", "name"],
};
const rowsSchema = toSchema({ type: "array", items: row }, { name: "rows", role: "input" });
const entries = 20_000;

/** Milliseconds of this process for one of several. */
async function cpuMs(times: number, work: () => unknown): Promise<string> {
  await work();
  const begun = process.cpuUsage();
  for (let index = 0; index < times; index += 1) await work();
  const { user, system } = process.cpuUsage(begun);
  return ((user + system) / 1000 / times).toFixed(2);
}

console.log("| rows | characters | judged, ms | written and read once, ms |\n|--:|--:|--:|--:|");
for (const count of [100, 1_000, 10_000, entries]) {
  const rows = Array.from({ length: count }, (_, id) => ({
    id,
    name: `name ${id}`,
    tags: ["a", `b${id}`, "c"],
    price: id / 7,
    place: { city: "Oslo", zip: "12345" },
  }));
  const times = entries / count;
  const judged = await cpuMs(times, () => rowsSchema.parse(rows));
  const handed = await cpuMs(times, () => deserialize(serialize(rows)));
  console.log(`| ${count} | ${JSON.stringify(rows).length} | ${judged} | ${handed} |`);
}

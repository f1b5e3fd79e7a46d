/**
 * Records runs with the built package, as `writ runs export` gives them: one that waits and one that ended, of each agent. Run it for a release, or
 * where a change of what waiting runs are held to is meant, and say so in the changelog: npm run build && npx node test/recorded/upgrade/record.ts NAME
 */
import { writeFileSync } from "node:fs";
import { durableRuns, memoryRuns } from "writ/durable";
import { agents } from "./agents.ts";

const [name = ""] = process.argv.slice(2);
if (name === "") throw new Error("Name the release: npx node test/recorded/upgrade/record.ts 0.1.0");
const runs = durableRuns({ store: memoryRuns(), agents });
for (const agent of agents) {
  await runs.start(agent, "Pay Ada 5", { id: `${agent.name}-ended` });
  await runs.start(agent, "Pay Ada 5", { id: `${agent.name}-waits` });
}
const worker = runs.work();
const isOpen = async (id: string) =>
  !["waiting", "answered", "failed"].includes((await runs.show(id))?.status ?? "");
for (const { name: of } of agents) {
  while (await isOpen(`${of}-waits`)) await new Promise((resolve) => setTimeout(resolve, 10));
  for (const { key, request } of await runs.waiting(`${of}-ended`))
    await runs.answer(`${of}-ended`, key, { approved: true, hash: request.hash });
  await runs.result(`${of}-ended`);
}
await worker.drain();
const kept = await Promise.all(
  (await runs.list()).map(async ({ id }) => [id, await runs.export(id)] as const),
);
writeFileSync(
  new URL(`runs-${name}.json`, import.meta.url),
  `${JSON.stringify(Object.fromEntries(kept), undefined, 2)}\n`,
);

/** writ: `durableRuns` over a SQLite file; `answer` with the hash that was shown. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { agent, ask, policy, tool } from "writ";
import { durableRuns } from "writ/durable";
import { openaiCompatible } from "writ/openai-compatible";
import { sqliteRuns } from "writ/sqlite";
import type { Asked, Payment } from "../../approvals-worker.ts";

export const asked: Asked = async ({ address, pay }) => {
  const payer = agent({
    name: "payer",
    model: openaiCompatible("mock", { baseUrl: address, apiKey: "key" }),
    policy: policy({ name: "money", rules: [ask("pay").because("money leaves")] }),
    tools: [
      tool({
        name: "pay",
        description: "Pays",
        inputSchema: {
          type: "object",
          properties: { to: { type: "string" }, amount: { type: "number" } },
          required: ["to", "amount"],
        },
        effect: "irreversible",
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- they fit the schema
        execute: (args) => pay(args as unknown as Payment),
      }),
    ],
  });
  const file = join(mkdtempSync(join(tmpdir(), "writ-approvals-")), "runs.db");
  const store = sqliteRuns(file);
  const runs = durableRuns({ store, agents: [payer] });
  await runs.start(payer, "Pay Ada 10.", { id: "r" });
  const worker = runs.work();
  let [question] = await runs.waiting();
  while (question === undefined) {
    await new Promise((resolve) => void setTimeout(resolve, 10));
    [question] = await runs.waiting();
  }
  const { runId, key, request } = question;
  return async (change) => {
    if (change !== undefined) {
      await worker.drain();
      using database = new DatabaseSync(file);
      const rows = database.prepare("SELECT place, json FROM writ_steps WHERE json IS NOT NULL").all();
      const put = database.prepare("UPDATE writ_steps SET json = ? WHERE place = ?");
      for (const { place, json } of rows) put.run(change(String(json)), Number(place));
      runs.work();
    }
    await runs.answer(runId, key, { approved: true, hash: request.hash });
    return runs.result("r");
  };
};

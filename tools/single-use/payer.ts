import { appendFileSync } from "node:fs";
import { agent, type Agent, ask, type Policy, policy, tool } from "../../src/index.ts";
import type { ModelRequest } from "../../src/models.ts";

/** Functions that run around an effect: a process may be killed there. */
export interface Around {
  readonly before?: () => Promise<void>;
  readonly after?: () => Promise<void>;
}

/** The policy that asks. It is data, because the source of a function differs where a test runner has changed it. */
export const asks: Policy = policy({ name: "money", rules: [ask("pay").because("money leaves")] });

/** A later version of it. */
export const asksAnew: Policy = policy({ name: "money", rules: [ask("pay").because("much money leaves")] });

/** A model that pays the recipient in its question, then says how the call ended. */
function model({ messages }: Pick<ModelRequest, "messages">) {
  const last = messages.at(-1);
  if (last?.role === "tool") return last.status;
  const parts = last?.role === "user" ? last.parts : [];
  const to = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  return { calls: [{ name: "pay", arguments: { to, amount: 10 } }] };
}

/**
 * An agent that makes one payment of 10 to the recipient in its question. Only kim may approve it. Each payment is a line of the ledger. A name that begins with
 * `late` may be approved for one millisecond only.
 */
export function payer(ledger: string, judge: Policy, around: Around = {}): Agent<string, string> {
  const pay = tool({
    name: "pay",
    description: "Pays",
    inputSchema: {
      type: "object",
      properties: { to: { type: "string" }, amount: { type: "number" } },
      required: ["to", "amount"],
    },
    effect: "irreversible",
    async execute({ to, amount }) {
      await around.before?.();
      appendFileSync(ledger, `${JSON.stringify({ to, amount })}\n`);
      await around.after?.();
      return "paid";
    },
  });
  return agent({
    name: "payer",
    model,
    tools: [pay],
    policy: judge,
    approvals: (request) => ({
      by: ["kim"],
      ...(JSON.stringify(request.arguments).includes("late") ? { within: "1ms" } : {}),
    }),
  });
}

import { agent, type Agent, type Policy, tool } from "../../src/index.ts";
import type { ModelRequest } from "../../src/models.ts";

/** The fates of a question: approved, by two clicks, after an answer about another call, after its time, and denied. */
export const kinds = ["yes", "twice", "wrong", "late", "no"] as const;
export type Kind = (typeof kinds)[number];

/** The questions of one run: the second and third are asked by two agents inside it, at once. */
export const questionsOfRun = 4;

/** The payment that a question of a run is about. Its first word is the fate of the question. */
export function paymentOf(run: number, question: number): string {
  return `${kinds[(run + question) % kinds.length]} ${run} ${question}`;
}

export const kindOf = (payment: string): Kind | undefined =>
  kinds.find((kind) => payment.startsWith(`${kind} `));

const asks: Policy = ({ tool: name }) =>
  name === "pay"
    ? { verdict: "ask", rule: "pay", reason: "money leaves" }
    : { verdict: "allow", rule: "free", reason: "" };

/** The words of the user, and the number of replies so far. */
function said({ messages }: Pick<ModelRequest, "messages">) {
  const parts = messages.flatMap((message) => (message.role === "user" ? message.parts : []));
  return {
    words: parts.map((part) => (part.type === "text" ? part.text : "")).join(""),
    turn: messages.filter(({ role }) => role === "assistant").length,
  };
}

const inside = (input = "") => ({ name: "helper", arguments: { input } });
const paying = (to: string) => ({ name: "pay", arguments: { to } });

/** An agent that makes four payments for the number of its run, two of them by agents inside it. Each needs an approval. */
export function payer(pay: (to: string) => Promise<void>): Agent<string, string> {
  const tools = [
    tool({
      name: "pay",
      description: "Pays",
      inputSchema: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
      effect: "irreversible",
      async execute({ to = "" }: { readonly to?: string }) {
        await pay(to);
        return "paid";
      },
    }),
  ];
  const terms = {
    policy: asks,
    approvals: (request: { readonly arguments: unknown }) =>
      JSON.stringify(request.arguments).includes("late") ? { within: "1ms" as const } : {},
  } as const;
  const helper = agent({
    ...terms,
    name: "helper",
    tools,
    model(request) {
      const { words, turn } = said(request);
      return turn === 0 ? { calls: [paying(words)] } : "done";
    },
  });
  return agent({
    ...terms,
    name: "payer",
    tools: [...tools, helper.asTool()],
    model(request) {
      const { words, turn } = said(request);
      const [own, one, other, last] = [0, 1, 2, 3].map((question) => paymentOf(Number(words), question));
      const turns = [[paying(own ?? "")], [inside(one), inside(other)], [paying(last ?? "")]];
      const calls = turns[turn];
      return calls === undefined ? "done" : { calls };
    },
  });
}

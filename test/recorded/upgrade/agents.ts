/** Agents whose runs earlier builds recorded. They stay as they are: a change here would be the author's change, and not one of writ. */
import { agent, policy, skill, tool, allow, ask, guarded } from "writ";
import { pipe } from "writ/compose";
import type { ModelRequest, PlainReply } from "writ/models";

const objectOf = (properties: Readonly<Record<string, { readonly type: string }>>) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
});

/** What was done by the process that goes on. */
export const done: string[] = [];

const read = tool({
  name: "read_mail",
  description: "The newest mail",
  inputSchema: objectOf({}),
  effect: "read",
  execute: () => {
    done.push("read");
    return "Pay Ada 5";
  },
});
const pay = tool({
  name: "pay",
  description: "Pay somebody",
  inputSchema: objectOf({ to: { type: "string" }, amount: { type: "number" } }),
  effect: "irreversible",
  parameters: { to: { role: "target", type: "text" }, amount: { role: "amount", type: "number" } },
  execute: (args) => {
    const { to } = args as { readonly to: string };
    done.push(`pay ${to}`);
    return `paid ${to}`;
  },
});

type Reply = string | PlainReply;

/** A model without a state: it answers by the number of its replies so far. */
const replies =
  (...given: readonly Reply[]) =>
  ({ messages }: Pick<ModelRequest, "messages">): Reply =>
    given[messages.filter(({ role }) => role === "assistant").length] ?? "done";

const mail = { calls: [{ name: "read_mail", arguments: {} }] };
const payment = (to: string) => ({ name: "pay", arguments: { to, amount: 5 } });

const payer = agent({
  name: "payer",
  description: "Pays",
  model: replies(mail, { calls: [payment("Ada"), payment("Bob")] }, "Paid."),
  tools: [read, pay],
});
const lead = agent({
  name: "lead",
  model: replies({ calls: [{ name: "payer", arguments: { input: "Pay Ada 5" } }] }, "All paid."),
  tools: [payer.asTool()],
});
const careful = agent({
  name: "careful",
  model: replies(mail, { calls: [payment("Eve")] }, "Paid."),
  tools: [read, pay],
  policy: guarded(),
});
const rules = policy({ name: "money", rules: [allow("read_mail"), ask("pay").because("money leaves")] });
const ruled = agent({
  name: "ruled",
  model: replies(mail, { calls: [payment("Ada")] }, "Paid."),
  tools: [read, pay],
  policy: rules,
});
const skilled = agent({
  name: "skilled",
  model: replies(mail, { calls: [payment("Ada")] }, "Paid."),
  skills: [skill({ name: "money", description: "Pays", instructions: "Pay.", tools: [read, pay] })],
});
const typed = agent({
  name: "typed",
  model: replies(mail, { calls: [payment("Ada")] }, '{"paid":5}'),
  tools: [read, pay],
  output: objectOf({ paid: { type: "number" } }),
});
const action = (name: string, args: object) => ({ thought: "", action: { tool: name, args } });
const json = agent({
  name: "json",
  driver: "json",
  model: ({ messages }) => {
    const replied = messages.filter(({ role }) => role === "assistant").length;
    return JSON.stringify(
      [action("read_mail", {}), action("pay", { to: "Ada", amount: 5 })][replied] ?? {
        final: { content: "Paid." },
      },
    );
  },
  tools: [read, pay],
});
const course = pipe(agent({ name: "first", model: replies("Pay Ada 5") }), payer).with({ name: "course" });

export const agents = [payer, lead, careful, ruled, skilled, typed, json, course];

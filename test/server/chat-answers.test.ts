import { expect, it } from "vitest";
import { ask, payer, runsFile, serving } from "./scene.ts";

it.each([{ approved: "yes" }, { approved: 1 }, { approved: false, reason: 5 }])(
  "a chat takes no answer that is neither yes nor no, and the question stands: %j",
  async (answer) => {
    const paid: unknown[] = [];
    const server = serving(runsFile(), { agents: [payer(paid)] });
    const messages = [{ id: "m", role: "user", parts: [{ type: "text", text: "Pay" }] }];
    const asked = await (await ask(server, "POST /chat/payer", { body: { id: "c", messages } })).text();
    const id = /"approvalId":"([^"]+)"/.exec(asked)?.[1];
    const answering = (approval: object) => {
      const part = { type: "dynamic-tool", state: "approval-responded", approval: { id, ...approval } };
      const body = { id: "c", messages: [{ id: "m-answer", role: "assistant", parts: [part] }] };
      return ask(server, "POST /chat/payer", { body });
    };
    const told = await answering(answer);
    expect([told.status, await told.text()]).toEqual([400, expect.stringContaining("request-invalid")]);
    expect(await (await answering({ approved: true })).text()).toContain("Paid.");
    expect(paid).toHaveLength(1);
  },
);

it("a chat takes no other arguments whose key is no approval: the call would run with the model's", async () => {
  const paid: unknown[] = [];
  const server = serving(runsFile(), { agents: [payer(paid)] });
  const messages = [{ id: "m", role: "user", parts: [{ type: "text", text: "Pay" }] }];
  const asked = await (await ask(server, "POST /chat/payer", { body: { id: "c", messages } })).text();
  const id = /"approvalId":"([^"]+)"/.exec(asked)?.[1] ?? "";
  const answering = (key: string) => {
    const approval = { id, approved: true };
    const part = { type: "dynamic-tool", state: "approval-responded", approval };
    const answered = [{ id: "m-answer", role: "assistant", parts: [part] }];
    const body = { id: "c", messages: answered, arguments: { [key]: { to: "Grace" } } };
    return ask(server, "POST /chat/payer", { body });
  };
  const told = await answering("call-1");
  expect([told.status, await told.text()]).toEqual([400, expect.stringContaining("`arguments`")]);
  expect(await (await answering(id)).text()).toContain("Paid.");
  expect(paid).toEqual([{ to: "Grace" }]);
});

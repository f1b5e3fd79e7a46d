import { expect, it } from "vitest";
import { connectMcp } from "../../src/adapters/mcp/tools.ts";
import { agent } from "../../src/index.ts";
import type { ApprovalRequest } from "../../src/index.ts";
import { scripted } from "../../src/testing.ts";

const server = new URL("mcp-insisting.ts", import.meta.url).pathname;

it.each(["flood", "insist"])(
  "a server that asks without end (%s) has ten questions of a call asked, one at a time",
  async (name) => {
    const place = { name: "s", command: process.execPath, args: [server] };
    await using connection = await connectMcp({ ...place, elicitation: true });
    const clerk = agent({
      name: "clerk",
      model: scripted([{ calls: [{ name: `s/${name}` }] }, "Done."]),
      tools: connection.tools,
      policy: () => ({ verdict: "allow", rule: "all", reason: "" }),
    });
    const asked: ApprovalRequest[] = [];
    let open = 0;
    let together = 0;
    const approve = async (request: ApprovalRequest): Promise<boolean> => {
      asked.push(request);
      open += 1;
      together = Math.max(together, open);
      await new Promise((resolve) => void setTimeout(resolve, 1));
      open -= 1;
      return true;
    };
    const { calls } = await clerk.run("Go", { approve });
    expect(calls).toMatchObject([{ status: "ok" }]);
    expect({ asked: asked.length, together }).toEqual({ asked: 10, together: 1 });
    expect(asked[0]?.values).toEqual([{ path: "constructor", value: "", bound: false }]);
  },
);

it("what is asked in a call that has ended is not waited for, and what was to be asked behind it is not asked", async () => {
  const place = { name: "s", command: process.execPath, args: [server] };
  await using connection = await connectMcp({ ...place, elicitation: true });
  const clerk = agent({
    name: "clerk",
    model: scripted([{ calls: [{ name: "s/flood" }] }, { calls: [{ name: "s/insist" }] }, "Done."]),
    tools: connection.tools,
    policy: () => ({ verdict: "allow", rule: "all", reason: "" }),
  });
  const stopping = new AbortController();
  let asked = 0;
  const never = (): Promise<boolean> => {
    asked += 1;
    stopping.abort();
    return new Promise(() => undefined);
  };
  const { calls } = await clerk.run("Go", { approve: never, signal: stopping.signal });
  expect(calls).toMatchObject([{ status: "cancelled" }]);
  const again = await clerk.run("Go", {
    approve: () => {
      asked += 1;
      return true;
    },
  });
  expect(again.calls).toMatchObject([{ status: "ok" }]);
  expect(asked).toBe(11);
});

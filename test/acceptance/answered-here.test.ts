import { describe, expect, it } from "vitest";
import { agent, type Policy, type RunOptions, tool } from "../../src/index.ts";
import { fakeTool } from "../../src/testing.ts";
import { durablePlaces, planned, storesIn } from "./durable-place.ts";

const asks: Policy = () => ({ verdict: "ask", rule: "asks", reason: "a person decides" });

describe.each(durablePlaces)("a question that the next process answers itself, in %s", (where) => {
  const openStore = storesIn(where);

  it("is open no more, takes no other answer, and its time is no matter", async () => {
    const store = openStore();
    const seen: unknown[] = [];
    const yes = { approved: true, hash: "" };
    const pay = tool({
      name: "pay",
      description: "",
      inputSchema: { type: "object" },
      effect: "irreversible",
      async execute() {
        seen.push(await store.questions("r"));
        const answer = store.answer("r", "turn/1/approval/0", yes);
        seen.push(await answer.catch((error: unknown) => (error as { code: unknown }).code));
        return "paid";
      },
    });
    const clerk = agent({
      name: "clerk",
      model: planned([{ name: "pay" }]),
      tools: [pay],
      policy: asks,
      approvals: { within: "100ms" },
    });
    const goOn = async (id: string, options: RunOptions = {}) => {
      await using journal = await store.open(id);
      const { outcome } = await clerk.run("Go", { journal, runId: id, ...options });
      if (outcome.type === "suspended") await journal.wait();
      return outcome.type;
    };
    expect(await goOn("r")).toBe("suspended");
    const [question] = await store.questions("r");
    yes.hash = question?.request.hash ?? "";
    expect(await goOn("r", { approve: () => true })).toBe("answered");
    expect(seen).toEqual([[], "question-answered"]);
    expect(await store.questions()).toEqual([]);
    expect(await goOn("s")).toBe("suspended");
    await expect.poll(() => store.expire()).toContain("s"); // which that of "r" does not hold up
    expect(await goOn("r")).toBe("answered");
  });

  it("is answered by whoever is first, also while somebody is asked here", async () => {
    const store = openStore();
    const pay = fakeTool("pay", "paid", { effect: "irreversible" });
    const clerk = agent({ name: "clerk", model: planned([{ name: "pay" }]), tools: [pay], policy: asks });
    {
      await using journal = await store.open("r");
      await clerk.run("Go", { journal, runId: "r" });
      await journal.wait();
    }
    const [{ key, request } = { key: "", request: { hash: "" } }] = await store.questions("r");
    await using journal = await store.open("r");
    const approve = async (): Promise<boolean> => {
      await openStore().answer("r", key, { approved: false, hash: request.hash, by: "kim" }); // on a page, meanwhile
      return true;
    };
    expect((await clerk.run("Go", { journal, runId: "r", approve })).text).toBe("pay denied");
    expect(pay.calls).toEqual([]);
    const kept = (await store.records("r")).find((record) => record.key === key);
    expect(JSON.parse(kept?.json ?? "")).toMatchObject({ approved: false, by: "kim" });
  });
});

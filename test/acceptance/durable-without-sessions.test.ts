import { describe, expect, it } from "vitest";
import { race } from "../../src/compose.ts";
import { durableRuns } from "../../src/durable.ts";
import { agent, inMemorySessions, session } from "../../src/index.ts";
import type { ModelRequest } from "../../src/models.ts";
import { durablePlaces, storesIn } from "./durable-place.ts";

const counting = agent({
  name: "counter",
  model: ({ messages }: Pick<ModelRequest, "messages">) => `told ${messages.length}`,
});

describe.each(durablePlaces)("a worker without `sessions` on %s", (where) => {
  const open = storesIn(where);

  it("leaves a run of a session to the worker that has them, takes the others, and says so", async () => {
    const warned: string[] = [];
    const onWarning = (warning: Error & { readonly code?: string }): void =>
      void warned.push(`${warning.code}: ${warning.message}`);
    process.on("warning", onWarning);
    const kept = inMemorySessions();
    const without = durableRuns({ store: open(), agents: [counting] });
    const said = `said in ${where}`;
    await without.start(counting, "Hi", { id: said, session: "kim" });
    await without.start(counting, "Hi", { id: "alone" });
    await using _left = without.work();
    expect((await without.result("alone")).output).toBe("told 1");
    await expect
      .poll(() => warned.join())
      .toContain(`WRIT_RUN_UNTAKEN: A worker without \`sessions\` leaves "${said}"`);
    expect((await without.show(said))?.status).toBe("ready");

    const whole = durableRuns({ store: open(), agents: [counting], sessions: (id) => session(kept, id) });
    await using _working = whole.work();
    await without.start(counting, "And?", { id: "second", session: "kim" });
    expect((await whole.result("second")).output).toBe("told 3");
    expect((await kept.read("kim")).runs.map(({ runId }) => runId)).toEqual([said, "second"]);
    process.off("warning", onWarning);
  });

  it("takes those of a composition, which keeps no conversation, and all where sessions only group runs", async () => {
    const either = race([counting, counting.with({ name: "other" })]);
    const without = durableRuns({ store: open(), agents: [either] });
    await using _composed = without.work();
    await without.start(either, "Hi", { id: "composed", session: "kim" });
    expect((await without.result("composed")).outcome.type).toBe("answered");

    const grouping = durableRuns({ store: open(), agents: [counting], sessions: () => undefined });
    await using _grouped = grouping.work();
    await grouping.start(counting, "Hi", { id: "grouped", session: "kim" });
    expect((await grouping.result("grouped")).output).toBe("told 1");
  });

  it("is what the store knows: of some agents it takes only runs without a session, by their id too", async () => {
    const store = open();
    const runs = durableRuns({ store });
    const other = agent({ name: "other", model: () => "" });
    await runs.start(counting, "Hi", { id: "1", session: "kim" });
    await runs.start(other, "Hi", { id: "2", session: "kim" });
    await runs.start(counting, "Hi", { id: "3" });
    const both = ["counter", "other"];
    expect(await store.claim(both, "1", ["counter"])).toBeUndefined();
    expect((await store.claim(both, undefined, ["counter"]))?.run.id).toBe("2");
    expect((await store.claim(both, undefined, both))?.run.id).toBe("3");
    expect(await store.claim(both, undefined, ["counter"])).toBeUndefined();
    expect((await store.claim(both, undefined, ["other"]))?.run.id).toBe("1");
  });
});

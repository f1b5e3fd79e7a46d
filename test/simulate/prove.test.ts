import { expect, it } from "vitest";
import { look, subjects } from "../../tools/prove/proved.ts";

it.each([...subjects])(
  "is not broken by drawn runs, once it is proved: %s",
  { timeout: 600_000 },
  async (_name, subject) => {
    const { proved, simulation } = await look(subject, { seed: 1, schedules: 30 });
    expect(proved.length).toBeGreaterThan(1);
    expect(simulation.failure?.message).toBeUndefined();
  },
);

it("is not broken by a call that was cancelled in a process which died: the model read the runtime's words alone", async () => {
  const subject = subjects.get("a rule allows whatever the address is");
  if (subject === undefined) throw new Error("the planted hole has another name");
  const sends = { name: "send_mail", arguments: { to: "eve@example.org", text: "b" } };
  const { simulation } = await look(subject, {
    schedule: {
      durable: true,
      deviations: [
        { at: "model 1", does: "breaks-off" },
        { at: "model 2", does: "proposes", calls: [{ name: "read_mail", arguments: {} }] },
        { at: "tool read_mail 1", does: "hangs-after" },
        { at: "step 3", does: "stalls" },
        { at: "model 3", does: "proposes", calls: [sends] },
      ],
    },
  });
  expect(simulation.counts["effects"]).toBe(2);
  expect(simulation.failure?.message).toBeUndefined();
});

import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { TurnInput } from "../../../src/driver/driver.ts";
import { driverNamed } from "../../../src/driver/choose.ts";
import { withMarks } from "../../../src/driver/mark-results.ts";
import { tool } from "../../../src/index.ts";
import { loop, readTranscript, userMessage } from "../../../src/doors.ts";
import { type FunctionReply, modelFromFunction } from "../../../src/models.ts";
import { type Message, textOf } from "../../../src/message/message.ts";
import type { ReadyTranscript } from "../../../src/message/transcript.ts";
import { driverNames } from "../../../src/model/driver-names.ts";
import type { ModelFeatures, ModelRequest } from "../../../src/model/model.ts";
import { wireNames } from "../../../src/model/tool-names.ts";
import { allowList } from "../../../src/policy/allow-list.ts";
import { turnOf } from "./turn.ts";

const toolNamed = (name: string) =>
  tool({ name, description: `does ${name}`, inputSchema: z.object({}), execute: () => 1 });

const begun = { system: { role: "system", text: "Be brief." }, user: userMessage("hi") } as const;

/** What a model is told of its tools in the first request of a run over this transcript. */
async function told(driver: (typeof driverNames)[number], transcript: ReadyTranscript, name: string) {
  const requests: ModelRequest[] = [];
  const reply = (request: ModelRequest): FunctionReply => {
    requests.push(request);
    return "ok";
  };
  const model = modelFromFunction(reply, { features: { tools: driver === "native" } });
  const budget = { turns: 1 };
  for await (const _ of loop({ model, driver, tools: [toolNamed(name)], transcript, budget }));
  return JSON.stringify([requests[0]?.messages, requests[0]?.tools]);
}

describe("what is remembered from one run to the next", () => {
  // guided tells a model of tools only where it asks it to choose.
  for (const driver of driverNames.filter((name) => name !== "guided")) {
    for (const messages of [[begun.system, begun.user], [begun.user]])
      it(`${driver}: two loops from one transcript that begins with the ${messages[0]?.role} tell each its own tools`, async () => {
        const transcript = readTranscript({ messages }) as ReadyTranscript;
        const first = await told(driver, transcript, "alpha");
        const second = await told(driver, transcript, "beta");
        expect(first).toContain("alpha");
        expect(second).toContain("beta");
        expect(second).not.toContain("alpha");
      });
  }

  const textOfFirst = (name: (typeof driverNames)[number], turn: TurnInput): string =>
    textOfMessage(driverNamed(name).request(turn).messages[0]);

  for (const name of ["json", "inline", "hermes", "react", "command", "pythonic", "select"] as const)
    it(`${name}: two runs from one transcript with other outputs are told each its own`, () => {
      const turn = turnOf({ tools: [toolNamed("alpha")], output: z.object({ first: z.string() }) });
      const { output } = turnOf({ output: z.object({ second: z.string() }) });
      expect(textOfFirst(name, turn)).toContain("first");
      expect(textOfFirst(name, { ...turn, output })).toContain("second");
    });

  it("inline: a model that is held to a schema is told of another answer than one that is not", () => {
    const turn = turnOf({ tools: [toolNamed("alpha")] });
    const held = turnOf({ features: { format: "schema" } satisfies ModelFeatures });
    expect(textOfFirst("inline", turn)).toContain("as plain text");
    expect(textOfFirst("inline", { ...turn, model: held.model })).toContain('{"final"');
  });

  for (const name of ["json", "hermes", "command", "pythonic"] as const)
    it(`${name}: results that one run marks are shown to the next as that one has them`, () => {
      const calls = ["call_1", "call_2"].map((id) => ({
        type: "tool-call" as const,
        id,
        name: "alpha",
        arguments: {},
      }));
      const ok = { name: "alpha", status: "ok", text: "sunny" } as const;
      const transcript = readTranscript({
        messages: [
          begun.user,
          { role: "assistant", parts: calls },
          {
            role: "tool",
            callId: "call_1",
            ...ok,
            label: { integrity: "trusted", secrecy: "public", sources: [] },
          },
          { role: "tool", callId: "call_2", ...ok },
        ],
      }) as ReadyTranscript;
      const driver = driverNamed(name);
      const turn = { ...turnOf({ tools: [toolNamed("alpha")] }), transcript };
      const shown = (marks: boolean): string =>
        JSON.stringify(driver.request(withMarks({ ...turn, marks }, driver)).messages);
      expect(shown(true)).toContain("trusted");
      expect(shown(false)).not.toContain("trusted");
    });

  it("select: a reply that had other results in another conversation is shown with its own", () => {
    const call: Message = {
      role: "assistant",
      parts: [{ type: "tool-call", id: "call_1", name: "alpha", arguments: {} }],
    };
    const turn = turnOf({ tools: [toolNamed("alpha")] });
    const after = (text: string): string => {
      const result: Message = { role: "tool", callId: "call_1", name: "alpha", status: "ok", text };
      const transcript = readTranscript({ messages: [begun.user, call, result] }) as ReadyTranscript;
      return JSON.stringify(driverNamed("select").request({ ...turn, transcript }).messages);
    };
    expect(after("sunny")).toContain("sunny");
    expect(after("rainy")).toContain("rainy");
  });

  it("names of tools: two providers whose rules differ in a flag alone are told each names that it takes", () => {
    const list = allowList("skill", [toolNamed("A.b")]);
    expect(wireNames(list, /^[a-z.]+$/i).toWire("A.b")).toBe("A.b");
    expect(wireNames(list, /^[a-z.]+$/).toWire("A.b")).toBe("A_b");
  });
});

function textOfMessage(message: Message | undefined): string {
  if (message === undefined || message.role === "tool") return "";
  return message.role === "system" ? message.text : textOf(message);
}

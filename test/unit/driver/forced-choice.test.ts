import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { Driver } from "../../../src/driver/driver.ts";
import { jsonDriver } from "../../../src/driver/json.ts";
import { linesDriver } from "../../../src/driver/lines.ts";
import { nativeDriver } from "../../../src/driver/native.ts";
import { reactDriver } from "../../../src/driver/react.ts";
import { callsOf, textOf } from "../../../src/message/message.ts";
import type { Reply } from "../../../src/model/assemble.ts";
import type { ReplyFormat } from "../../../src/model/model.ts";
import { toSchema } from "../../../src/schema/to-schema.ts";
import { fakeTool } from "../../../src/testing.ts";
import { callOf, replyOf, turnOf } from "./turn.ts";

const tools = [fakeTool("search", "found"), fakeTool("look", "seen")];

interface Dialect {
  readonly driver: Driver;
  readonly answer: Reply;
  readonly call: (tool: string) => Reply;
}

const dialects: Readonly<Record<string, Dialect>> = {
  native: { driver: nativeDriver, answer: replyOf("No."), call: (tool) => replyOf(callOf(tool, {})) },
  json: {
    driver: jsonDriver(),
    answer: replyOf('{"final":{"content":"No."}}'),
    call: (tool) => replyOf(JSON.stringify({ action: { tool, args: {} } })),
  },
  react: {
    driver: reactDriver(),
    answer: replyOf('{"thought":"","type":"final_answer","answer":"No."}'),
    call: (tool) => replyOf(JSON.stringify({ thought: "", type: "call_tool", tool, args: {} })),
  },
  lines: { driver: linesDriver, answer: replyOf("Answer: No."), call: (tool) => replyOf(`Step: ${tool} {}`) },
};

describe.each(Object.entries(dialects))(
  "a call that is forced, with the driver %s",
  (_name, { driver, answer, call }) => {
    it("case 49: an answer in place of a required call is sent back [A7]", () => {
      const turn = turnOf({ tools, toolChoice: "required" });
      expect(driver.read(answer, turn)).toMatchObject({
        type: "violation",
        reason: expect.stringContaining("answered"),
        feedback: "This reply must call one of the tools search, look. Call it now; answer afterwards.",
      });
      expect(driver.read(call("look"), turn).type).toBe("calls");
    });

    it("case 49: so is a call of another tool than the one that is required, and it does not stand open [A7]", () => {
      const turn = turnOf({ tools, toolChoice: { tool: "search" } });
      expect(driver.read(answer, turn)).toMatchObject({
        type: "violation",
        feedback: "This reply must call the tool search. Call it now; answer afterwards.",
      });
      const other = driver.read(call("look"), turn);
      expect(other).toMatchObject({ type: "violation", reason: expect.stringContaining("called another") });
      expect(callsOf(other.message)).toEqual([]);
      expect(textOf(other.message)).toContain("look");
      expect(driver.read(call("search"), turn).type).toBe("calls");
    });

    it("leaves the model free otherwise, and where there is nothing to call [A7]", () => {
      for (const turn of [
        turnOf({ tools }),
        turnOf({ tools, toolChoice: "none" }),
        turnOf({ toolChoice: "required" }),
      ])
        expect(driver.read(answer, turn)).toMatchObject({ type: "final", content: "No." });
    });
  },
);

describe("a model that is held to a form", () => {
  const formOf = (
    driver: Driver,
    toolChoice: "auto" | "none" | "required" | { tool: string },
    format: "schema" | "grammar",
  ) => driver.request(turnOf({ tools, toolChoice, features: { format } })).format;
  const admits = async (format: ReplyFormat | undefined, reply: Reply): Promise<boolean> => {
    const schema = toSchema(format?.type === "schema" ? format.schema : {}, { name: "form", role: "output" });
    return (await schema.parse(JSON.parse(textOf(reply.message)))).ok;
  };

  it.each(["json", "react"])(
    "case 49: can write nothing but the call with the driver %s [A7]",
    async (name) => {
      const { driver, answer, call } = dialects[name] ?? {
        driver: nativeDriver,
        answer: replyOf(),
        call: () => replyOf(),
      };
      const admitted = async (choice: Parameters<typeof formOf>[1]): Promise<readonly boolean[]> => {
        const form = formOf(driver, choice, "schema");
        return Promise.all([answer, call("search"), call("look")].map((reply) => admits(form, reply)));
      };
      expect(await admitted("auto")).toEqual([true, true, true]);
      expect(await admitted("none")).toEqual([true, false, false]);
      expect(await admitted("required")).toEqual([false, true, true]);
      expect(await admitted({ tool: "search" })).toEqual([false, true, false]);
    },
  );

  it.each([
    ["json", "final"],
    ["react", "final_answer"],
    ["lines", "Answer: "],
  ])("case 49: nor with a grammar, with the driver %s [A7]", (name, answering) => {
    const driver = dialects[name]?.driver ?? nativeDriver;
    const rootOf = (choice: Parameters<typeof formOf>[1]): string => {
      const form = formOf(driver, choice, "grammar");
      return form?.type === "grammar" ? (form.grammar.split("\n")[0] ?? "") : "";
    };
    expect(rootOf("auto")).toContain(answering);
    expect(rootOf("none")).not.toContain("search");
    expect(rootOf("required")).not.toContain(answering);
    expect(rootOf("required")).toContain("look");
    expect(rootOf({ tool: "search" })).toContain("search");
    expect(rootOf({ tool: "search" })).not.toContain("look");
  });

  it("holds the answer inside the protocol to its schema, with references of its own [G4]", async () => {
    const output = {
      type: "object",
      properties: { name: { type: "string" }, parts: { type: "array", items: { $ref: "#" } } },
      required: ["name"],
      additionalProperties: false,
    };
    for (const [name, wrap] of [
      ["json", (content: unknown) => ({ final: { content } })],
      ["react", (answer: unknown) => ({ thought: "", type: "final_answer", answer })],
    ] as const) {
      const driver = dialects[name]?.driver ?? nativeDriver;
      const turn = (format: "schema" | "grammar") => turnOf({ tools, output, features: { format } });
      const { format } = driver.request(turn("schema"));
      const reply = (answer: unknown): Reply => replyOf(JSON.stringify(wrap(answer)));
      expect(await admits(format, reply({ name: "a", parts: [{ name: "b" }] }))).toBe(true);
      expect(await admits(format, reply({ name: "a", parts: [{ name: 1 }] }))).toBe(false);
      expect(await admits(format, reply("text"))).toBe(false);
      const grammar = driver.request(turn("grammar")).format;
      expect(grammar?.type === "grammar" && grammar.grammar).toContain('\\"parts\\"');
    }
  });

  it("makes a new form for another output [G4]", () => {
    const driver = jsonDriver();
    const turn = turnOf({ tools, output: z.object({ a: z.string() }), features: { format: "schema" } });
    const other = { ...turn, output: toSchema(z.object({ b: z.string() }), { name: "b", role: "input" }) };
    const first = driver.request(turn).format;
    expect(driver.request(turn).format).toBe(first);
    expect(JSON.stringify(driver.request(other).format)).toContain('"b"');
  });
});

import { describe, expect, it } from "vitest";
import {
  commandDriver,
  type Driver,
  jsonDriver,
  nativeDriver,
  pythonicDriver,
  reactDriver,
} from "../../src/drivers.ts";
import { agent, memoryJournal, skill, type Tool } from "../../src/index.ts";
import { fakeTool, scripted, type ScriptStep } from "../../src/testing.ts";
import { toolCatalogue } from "../../src/tools.ts";
import { json } from "./play-driver.ts";

const verbs = ["create", "update", "delete", "list", "archive", "export"];
const things = ["invoice", "customer", "meeting", "ticket", "contract"];
const places = ["crm", "shop", "office", "bank", "store", "depot", "lab", "school", "clinic", "hotel"];

/** 300 tools as programs have them, of ten systems. */
const many: readonly ReturnType<typeof fakeTool>[] = places.flatMap((place) =>
  verbs.flatMap((verb) =>
    things.map((thing) =>
      fakeTool(`${place}/${verb}_${thing}`, `${verb}d ${thing} of the ${place}`, {
        description: `${verb[0]?.toUpperCase()}${verb.slice(1)}s a ${thing} in the ${place}. Use it when the user asks to ${verb} one.`,
        inputSchema: {
          type: "object",
          properties: {
            [`${thing}Id`]: { type: "string", description: `Which ${thing}` },
            reason: { type: "string", description: "Why" },
            at: { type: "string", format: "date-time", description: "When it is to happen" },
          },
          required: [`${thing}Id`],
        },
      }),
    ),
  ),
);
const wanted = many.find(({ name }) => name === "bank/archive_contract") as (typeof many)[number];
const clock = fakeTool("clock", "12:00");
const arguments_ = { contractId: "7" };
const find = (args: object = { query: "archive a contract of the bank" }) => ({
  calls: [{ name: "find_tools", arguments: { ...args } }],
});
const call = { calls: [{ name: wanted.name, arguments: arguments_ }] };

const catalogue = (): readonly Tool[] => toolCatalogue({ tools: many });
function clerk(script: readonly ScriptStep[], more: object = {}) {
  const model = scripted(script);
  for (const each of many) (each.calls as unknown[]).length = 0;
  return { model, clerk: agent({ name: "clerk", model, tools: [clock, catalogue()], ...more }) };
}
const offersIn = (model: ReturnType<typeof scripted>): readonly (readonly string[])[] =>
  model.requests.map(({ tools }) => tools.map(({ name }) => name));
const resultsOf = (messages: readonly { role: string; status?: string; text?: string }[]) =>
  messages.filter(({ role }) => role === "tool").map(({ status, text }) => `${status}: ${text}`);

describe("a catalogue of 300 tools", () => {
  it("offers what was found, and what is there always [C35]", async () => {
    const { model, clerk: agent } = clerk([find(), call, "Done."]);
    const { transcript } = await agent.run("Archive contract 7 of the bank");
    const [first, second, third] = offersIn(model);
    expect(first).toEqual(["clock", "find_tools"]);
    expect(second?.slice(0, 3)).toEqual(["clock", "find_tools", "bank_archive_contract"]);
    expect(second?.length).toBeLessThanOrEqual(7);
    expect(third).toEqual(second);
    expect(wanted.calls).toEqual([arguments_]);
    const [found, done] = resultsOf(transcript.messages);
    expect(found).toMatch(
      /^ok: These can be called from now on:\n- bank\/archive_contract: Archives a contract in the bank\./,
    );
    expect(done).toBe("ok: archived contract of the bank");
  });

  it("keeps the order of what was told before: what is found later stands behind it", async () => {
    const { model, clerk: agent } = clerk([
      find(),
      find({ query: "clinic meeting" }),
      find({ names: ["lab/list_ticket"] }),
      "Done.",
    ]);
    await agent.run("Look around");
    const offers = offersIn(model);
    for (const [index, offer] of offers.slice(1).entries())
      expect(offer.slice(0, offers[index]?.length)).toEqual(offers[index]);
    expect(offers.at(-1)?.at(-1)).toBe("lab_list_ticket");
    const texts = model.requests.map(({ messages }) =>
      messages[0]?.role === "system" ? messages[0].text : "",
    );
    for (const [index, text] of texts.slice(1).entries())
      expect(text.startsWith(texts[index] ?? "?")).toBe(true);
  });

  const words: readonly (readonly [Driver, (name: string, args: object) => string, string])[] = [
    [jsonDriver(), (tool, args) => json({ action: { tool, args } }), json({ final: { content: "Done." } })],
    [
      jsonDriver({ dialect: "hermes" }),
      (name, args) => `<tool_call>\n${json({ name, arguments: args })}\n</tool_call>`,
      "Done.",
    ],
    [
      jsonDriver({ dialect: "inline" }),
      (tool, args) => json({ tool, arguments: args }),
      json({ final: { content: "Done." } }),
    ],
    [
      reactDriver(),
      (tool, args) => json({ thought: "t", type: "call_tool", tool, args }),
      json({ thought: "t", type: "final_answer", answer: "Done." }),
    ],
    [commandDriver(), (name, args) => `@tool ${name} ${json(args)}`, "Done."],
    [
      pythonicDriver(),
      (name, args) =>
        `[${name.replaceAll("/", "_")}(${Object.entries(args)
          .map(([key, value]) => `${key}=${json(value)}`)
          .join(", ")})]`,
      "Done.",
    ],
  ];
  it.each(words.map(([driver, write, answer]) => ({ name: driver.name, driver, write, answer })))(
    "works with the driver $name",
    async ({ driver, write, answer }) => {
      const steps = [
        write("find_tools", { query: "archive a contract of the bank" }),
        write(wanted.name, arguments_),
        answer,
      ];
      const model = scripted(steps, { features: { tools: false } });
      (wanted.calls as unknown[]).length = 0;
      const { text } = await agent({ name: "clerk", model, tools: [clock, catalogue()], driver }).run(
        "Archive contract 7",
      );
      expect(text).toBe("Done.");
      expect(wanted.calls).toEqual([arguments_]);
      const told = model.requests.map(({ messages }) =>
        messages.map((message) => (message.role === "system" ? message.text : "")).join(),
      );
      expect(told[0]).toContain("find_tools");
      expect(told[0]).not.toContain("archive_contract");
      expect(told[1]).toContain("archive_contract");
      expect(told[1]).not.toContain("export_ticket");
    },
  );

  it("runs a call of a tool that was not found yet: the allow-list has it", async () => {
    const { clerk: agent } = clerk([call, { calls: [{ name: "bank/rob", arguments: {} }] }, "Done."]);
    const { transcript } = await agent.run("Archive contract 7");
    expect(resultsOf(transcript.messages)).toEqual([
      "ok: archived contract of the bank",
      "denied: Tool 'bank/rob' is not allowed for skill 'clerk'. Allowed: [clock, find_tools], and 300 that can be looked for",
    ]);
  });

  it("finds nothing that a skill does not list", async () => {
    const model = scripted([find(), call, "Done."]);
    const narrow = skill({
      name: "look",
      description: "Looks",
      tools: [toolCatalogue({ tools: many.filter(({ name }) => name.includes("list_")) })],
    });
    const { transcript } = await agent({ name: "clerk", model, skills: [narrow] }).run("Archive contract 7");
    const [found, refused] = resultsOf(transcript.messages);
    expect(found).toContain("list_contract");
    expect(found).not.toContain("archive_contract");
    expect(refused).toMatch(/^denied: Tool 'bank\/archive_contract' is not allowed/);
  });

  it("offers the same when a run is played again, and when it goes on from a checkpoint", async () => {
    const journal = memoryJournal();
    const script: readonly ScriptStep[] = [find(), call, "Done."];
    const first = clerk(script);
    const recorded = await first.clerk.run("Archive contract 7", { journal });
    const again = clerk([]);
    const replayed = await again.clerk.run("Archive contract 7", { journal: memoryJournal(journal.records) });
    expect(replayed.transcript.toJSON()).toEqual(recorded.transcript.toJSON());
    expect(wanted.calls).toEqual([]);

    const stopped = clerk([find(), "never asked"]);
    const states: unknown[] = [];
    for await (const turn of stopped.clerk.turns("Archive contract 7")) {
      states.push(JSON.parse(JSON.stringify(turn)));
      break;
    }
    const resumed = clerk([call, "Done."]);
    await resumed.clerk.resume(states[0] as never);
    expect(offersIn(resumed.model)[0]).toEqual(offersIn(first.model)[1]);
    expect(wanted.calls).toEqual([arguments_]);
  });

  it("offers what a caller or the author names, without looking for it", async () => {
    const caller = clerk(["Done."]);
    await caller.clerk.run("Archive contract 7", { tools: ["find_tools", wanted.name] });
    expect(offersIn(caller.model)[0]).toEqual(["find_tools", "bank_archive_contract"]);
    const forced = clerk([call, "Done."], { toolChoice: { tool: wanted.name } });
    await forced.clerk.run("Archive contract 7");
    expect(offersIn(forced.model)[0]).toContain("bank_archive_contract");
  });

  it("lists names, tells arguments, and says what was meant [C35]", async () => {
    const ask = async (args: object): Promise<string> => {
      const { transcript } = await clerk([find(args), "Done."]).clerk.run("Look");
      return resultsOf(transcript.messages)[0] ?? "";
    };
    expect(await ask({})).toMatch(/^ok: crm\/create_invoice, [^\n]*\n\[100 more; go on with offset 200\]$/);
    expect(await ask({ offset: 200 })).toMatch(/hotel\/export_contract\n\[300 in all\]$/);
    expect(await ask({ names: [wanted.name, "bank/archive_contrct"] })).toMatch(
      /^ok: There is no tool "bank\/archive_contrct"; did you mean "bank\/archive_contract"\?\nThese can be called from now on:\n- bank\/archive_contract: .*\n {2}arguments: \{"type":"object","properties":\{"contractId"/,
    );
    expect(await ask({ query: "teleport" })).toBe(
      "ok: No tool fits. Try other words, or list all names by giving nothing.",
    );
    expect(await ask({ query: "contract", offset: 60 })).toBe("ok: There are no more: 60 fit in all.");
    expect(await ask({ query: "contract" })).toMatch(/\n\[55 more fit less well; go on with offset 5\]$/);
    expect(await ask({ query: "contract", offset: 55 })).toMatch(/^ok: These can[^]*(?!more fit)/);
    expect(await ask({ query: 7 })).toMatch(/^(?:ok|invalid)/);
  });

  it("is refused where it cannot work", () => {
    expect(() => toolCatalogue({ tools: [] })).toThrow("`tools` has none");
    expect(() => toolCatalogue({ tools: many, limit: 0 })).toThrow("`limit`");
    expect(() => toolCatalogue({ tools: [...many, wanted] })).toThrow("bank/archive_contract");
    expect(() => toolCatalogue({ tools: [clock], name: "clock" })).toThrow("clock");
    expect(() => toolCatalogue({ tools: [clock], name: "two words" })).toThrow("two words");
  });

  it("costs a hundredth of what 300 tools cost with native calls, and a fortieth in a prompt", async () => {
    // Tokens are an estimate: 4 characters each.
    const costOf = async (driver: Driver, tools: readonly Tool[], script: readonly ScriptStep[]) => {
      const model = scripted(script, { features: { tools: driver.name === "native" } });
      await agent({ name: "clerk", model, tools: [clock, tools], driver }).run("Archive contract 7");
      const sizes = model.requests.map(({ messages, tools }) => {
        const said = messages.map((message) => ("text" in message ? message.text : JSON.stringify(message)));
        return Math.round((JSON.stringify(tools).length + said.join("").length) / 4);
      });
      return { first: sizes[0] ?? 0, run: sizes.reduce((sum, size) => sum + size, 0) };
    };
    const said = (tool: string, args: object): string => json({ action: { tool, args } });
    const { name, arguments: query } = find().calls[0] as { name: string; arguments: object };
    const done = json({ final: { content: "Done." } });
    const runs: readonly (readonly [Driver, readonly ScriptStep[], number])[] = [
      [nativeDriver, [find(), call, "Done."], 100],
      [jsonDriver(), [said(name, query), said(wanted.name, arguments_), done], 40],
    ];
    for (const [driver, script, least] of runs) {
      const all = await costOf(driver, many, script.slice(1));
      const some = await costOf(driver, catalogue(), script);
      if (process.env["PRINT_TOKENS"] !== undefined) console.log(driver.name, all, some);
      expect(all.first / some.first).toBeGreaterThan(least);
      expect(all.run / some.run).toBeGreaterThan(10);
    }
  });
});

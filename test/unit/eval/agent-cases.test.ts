import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agent } from "../../../src/index.ts";
import { pipe } from "../../../src/compose.ts";
import { evaluate, type EvalCase, readCases } from "../../../src/eval.ts";
import { isWritError } from "../../../src/error/writ-error.ts";
import { evaluateLocated } from "../../../src/eval/agent/evaluate.ts";
import { readLocatedCases } from "../../../src/eval/agent/read-cases.ts";
import { withRecordings, writeRecordings } from "../../../src/eval/agent/recordings.ts";
import { fakeTool, scripted, type ScriptStep } from "../../../src/testing.ts";
import { clerk } from "./agent-scene.ts";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "cases-"))));
afterEach(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** The problems that an error tells, without the path of the folder. */
async function problemsOf(wrong: Promise<unknown>): Promise<string[]> {
  const error = await wrong.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!isWritError(error, "eval-cases-invalid"))
    throw new Error("the cases were not refused", { cause: error });
  return String(error.data.problems)
    .trim()
    .split("\n")
    .map((line) => line.trim().replace(`${folder}/`, ""));
}

describe("files of cases", () => {
  it("hold one case or several, in YAML or JSON, in the order of their names", async () => {
    file("b.yml", "input: Hello");
    file("a.json", '{ "cases": [{ "name": "first", "input": "1" }, { "name": "second", "input": "2" }] }');
    file("c.yaml", "name: third\ninput: { text: 3 }\nexpect: { answer: { contains: x }, calls: [add] }");
    file("a.recorded.json", "no case");
    file(".hidden.yaml", "no case");
    file("README.md", "no case");
    mkdirSync(join(folder, "deeper.yaml"));
    const cases = await readCases(folder);
    expect(cases.map(({ name, file: path }) => [name, path?.replace(`${folder}/`, "")])).toEqual([
      ["first", "a.json"],
      ["second", "a.json"],
      ["b", "b.yml"],
      ["third", "c.yaml"],
    ]);
    expect(cases[3]?.expect).toEqual({ answer: { contains: ["x"] }, calls: [{ tool: "add" }] });
    expect(await readCases(join(folder, "b.yml"))).toHaveLength(1);
  });

  it.each([
    ["input: [", "1: "],
    ["name: x", " input: missing"],
    ["input: x\nexpects: {}", '2: expects: unknown; did you mean "expect"?'],
    ["input: x\nexpect:\n  calls:\n    - { tol: add }", "4: expect.calls[0].tool: missing"],
    ["input: x\nexpect:\n  calls:\n    - { tool: add, status: refused }", "4: expect.calls[0].status: "],
    ["input: x\nexpect: { order: [{ tool: add, times: 2 }] }", "2: expect.order[0].times: "],
    [
      "input: x\nexpect:\n  answer:\n    contain: y",
      '4: expect.answer.contain: unknown; did you mean "contains"?',
    ],
    ["input: x\nexpect:\n  answer: y", "3: expect.answer: "],
    ["input: x\nruns: 0", "2: runs: "],
    ["input: x\natLeast: 80", "2: atLeast: "],
    ["input: x\nreplies:\n  - { call: [] }", '3: replies[0].call: unknown; did you mean "calls"?'],
    ["cases:\n  - input: x\n  - name: y\n    input: y", "2: cases[0].name: missing"],
    ["cases: []", "1: cases: "],
    ["cases: [1]", "1: cases[0]: "],
  ])("say with line and field what is wrong: %j", async (text, told) => {
    const path = file("wrong.yaml", text);
    expect((await problemsOf(readCases(path))).join("\n")).toContain(`wrong.yaml:${told}`);
  });

  it("tell of all files at once, and of a folder without any", async () => {
    expect(await problemsOf(readCases(folder))).toEqual([
      expect.stringContaining("there is no file in it that ends in .json, .yaml, .yml"),
    ]);
    file("a.yaml", "input: 3");
    file("b.json", "{");
    const problems = await problemsOf(readCases(folder));
    expect(problems.some((one) => one.startsWith("a.yaml:1: input: "))).toBe(true);
    expect(problems.some((one) => one.startsWith("b.json"))).toBe(true);
    expect(await problemsOf(readCases(join(folder, "none")))).toEqual([
      expect.stringContaining("it is not there"),
    ]);
  });
});

describe("cases before the first run", () => {
  const wrong = (fields: object, more: Partial<EvalCase> = {}): Promise<string[]> =>
    problemsOf(evaluate(clerk, [{ name: "one", input: "x", ...fields, ...more }]));

  it.each<[object, string]>([
    [
      { expect: { never: ["mial"] } },
      'case 1: expect.never[0]: the agent has no tool "mial"; did you mean "mail"?',
    ],
    [{ expect: { calls: ["search"] } }, 'expect.calls[0]: the agent has no tool "search": add, mail'],
    [{ results: { search: 1 } }, 'results[0]: the agent has no tool "search"'],
    [{ approve: ["search"] }, 'approve[0]: the agent has no tool "search"'],
    [{ results: [{ tool: "add" }] }, "results[0]: give either `result` or `error`"],
    [{ results: [{ tool: "add", result: 1, error: "x" }] }, "results[0]: give either `result` or `error`"],
    [{ expect: { answer: { matches: "(" } } }, "expect.answer.matches: "],
    [{ expect: { answer: { matches: "(?<=a)b" } } }, "linear time"],
    [{ expect: { answer: { schema: { type: "txt" } } } }, "expect.answer.schema: "],
    [{ expect: { calls: [{ tool: "add", with: { a: { matches: "(" } } }] } }, "expect.calls[0].with: "],
    [{ expect: { judge: { rubric: "x", model: "nobody/x" } } }, "expect.judge.model: "],
    [{ expect: { judge: "Is it good?" } }, "expect.judge: no model judges"],
    [{ expect: { judge: "Is it good?", outcome: "exhausted" } }, "expect.judge: only an answer is judged"],
    [
      { input: [{ role: "assistant", text: "Hello" }] },
      "input: the last message of a conversation is the user's",
    ],
    [{ input: 3 }, "input: "],
    [{ expect: { anwser: {} } }, "expect.anwser: "],
    [{ recorded: [], replies: undefined }, "name: 0 of 1 runs were recorded"],
  ])("are checked: %j", async (fields, told) => {
    expect((await wrong(fields)).join("\n")).toContain(told);
  });

  it("have names of their own, and there is one at least", async () => {
    const twice = [1, 2].map(() => ({ name: "same", input: "x" }));
    expect(await problemsOf(evaluate(clerk, twice))).toEqual([
      'case 2: name: another case is called "same" too',
    ]);
    expect(await problemsOf(evaluate(clerk, []))).toEqual(["cases: there are none"]);
  });

  it("may give no result for a tool of an agent inside, which would be carried out all the same", async () => {
    const refund = fakeTool("refund", "done", { effect: "irreversible" });
    const payer = agent({ name: "payer", model: () => "paid", tools: [refund] });
    const desk = agent({ name: "desk", model: () => "done", tools: [payer.asTool()] });
    const cases = [
      { name: "pays", input: "Pay", results: { refund: "paid" }, expect: { never: ["refund"] } },
    ];
    expect(await problemsOf(evaluate(desk, cases))).toEqual([
      'case 1: results[0]: the agent has no tool "refund" of its own: payer. Those of agents inside run as they are.',
    ]);
  });

  it("may name tools that only agents inside have", async () => {
    const inner = agent({ name: "inner", model: () => "yes" });
    const outer = agent({ name: "outer", model: () => "yes", tools: [inner.asTool()] });
    const report = await evaluate(outer, [{ name: "one", input: "x", expect: { never: ["deep"] } }]);
    expect(report.passed).toBe(true);
  });
});

describe("recordings", () => {
  it("stand beside the file of their case, and keep those of other cases", async () => {
    file("talk.yaml", "cases:\n  - { name: a, input: a }\n  - { name: b, input: b, runs: 2 }");
    const cases = await readLocatedCases(folder);
    const subject = agent({ name: "talker", model: scripted(["one", "two", "three"]) });
    const record = async (names: string): Promise<readonly string[]> => {
      const chosen = cases.filter(({ fields }) => names.includes(fields.name)).map(({ fields }) => fields);
      return writeRecordings(await evaluate(subject, chosen, { record: true, concurrency: 1 }));
    };
    expect(await record("a")).toEqual([join(folder, "talk.recorded.json")]);
    await record("b");
    const again = (await withRecordings(cases)).map(({ fields }) => fields);
    expect(
      again.map(({ recorded }) => recorded?.map((run) => run.agent?.replies.map(({ text }) => text))),
    ).toEqual([[["one"]], [["two"], ["three"]]]);
    const report = await evaluate(subject, again);
    expect(report.cases[1]?.runs.map(({ answer }) => answer)).toEqual(["two", "three"]);
  });

  it("stay what they were where a model gives no answer", async () => {
    file("talk.yaml", "cases:\n  - { name: a, input: a, runs: 2 }\n  - { name: b, input: b }");
    const cases = await readCases(folder);
    const record = async (replies: readonly ScriptStep[]): Promise<readonly string[]> =>
      writeRecordings(
        await evaluate(agent({ name: "talker", model: scripted(replies) }), cases, {
          record: true,
          concurrency: 1,
        }),
      );
    await record(["one", "two", "three"]);
    await record(["four", new Error("down"), "six"]);
    const kept = (await withRecordings(await readLocatedCases(folder))).map(({ fields }) =>
      fields.recorded?.map((run) => run.agent?.replies.map(({ text }) => text)),
    );
    expect(kept).toEqual([[["one"], ["two"]], [["six"]]]);
  });

  it("are refused where they are none", async () => {
    file("talk.yaml", "input: a");
    file("talk.recorded.json", '{ "cases": { "talk": [{ "agent": { "replies": [{}] } }] } }');
    const problems = await problemsOf(readLocatedCases(folder).then(withRecordings));
    expect(problems.join("\n")).toContain("talk.recorded.json:1: cases.talk[0].agent");
  });

  it("are not made of agents that functions put together, and not played where agents inside that functions put together would ask their models", async () => {
    const [model, inner] = [scripted(["one", "two"]), scripted(["seen"])];
    const both = pipe(agent({ name: "a", model }), agent({ name: "b", model }));
    expect(await problemsOf(evaluate(both, [{ name: "talk", input: "a" }], { record: true }))).toEqual([
      "case 1: name: pipe(a, b) is made of several agents, whose models and tools stay as they are",
    ]);
    const scout = pipe(agent({ name: "near", model: inner }), agent({ name: "far", model: inner }));
    const asking = scripted([{ calls: [{ name: "scout", arguments: { input: "x" } }] }, "done"]);
    const desk = agent({
      name: "desk",
      model: asking,
      tools: [scout.asTool({ name: "scout", description: "Looks" })],
    });
    const replayed = async (text: string) => {
      file("talk.yaml", text);
      return evaluateLocated(desk, await withRecordings(await readLocatedCases(folder)), { offline: true });
    };
    file("talk.yaml", "input: a");
    await writeRecordings(await evaluate(desk, await readCases(folder), { record: true }));
    expect(await problemsOf(replayed("input: a"))).toEqual([
      "talk.yaml: name: no replies of the agents behind scout were recorded: record it again with --record, or give `results` for it",
    ]);
    expect((await replayed("input: a\nresults: { scout: seen }")).passed).toBe(true);
    expect(inner.requests).toHaveLength(2);
  });

  it("have the replies of agents inside, of nested ones and of runs side by side too, and ask none of them", async () => {
    const found = scripted([
      ({ messages }) => `found ${JSON.stringify(messages).match(/tea|rice/)?.[0] ?? ""}`,
    ]);
    const digger = agent({ name: "digger", model: found });
    const dig = (what: string) => ({ calls: [{ name: "digger", arguments: { input: what } }] });
    const thinks = scripted([
      ({ messages }) => {
        const [asked = ""] = JSON.stringify(messages).match(/tea|rice/) ?? [];
        return messages.at(-1)?.role === "tool" ? `scouted ${asked}` : dig(asked);
      },
    ]);
    const scout = agent({ name: "scout", model: thinks, tools: [digger.asTool()] });
    const both = ["tea", "rice"].map((input) => ({ name: "scout", arguments: { input } }));
    const desk = agent({ name: "desk", model: scripted([{ calls: both }, "done"]), tools: [scout.asTool()] });
    file("talk.yaml", "input: a\nexpect: { snapshot: true }");
    await writeRecordings(await evaluate(desk, await readCases(folder), { record: true }));
    const counted = [found.requests.length, thinks.requests.length];
    expect(counted).toEqual([2, 4]);
    const located = await withRecordings(await readLocatedCases(folder));
    const report = await evaluateLocated(desk, located, { offline: true });
    const [run] = report.cases[0]?.runs ?? [];
    expect(run).toMatchObject({ passed: true, answer: "done", failures: [] });
    expect(run?.calls.map(({ result }) => result)).toEqual([
      "scouted tea",
      "scouted rice",
      "found tea",
      "found rice",
    ]);
    expect(run).not.toHaveProperty("outdated");
    expect([found.requests.length, thinks.requests.length]).toEqual(counted);
  });
});

import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { execFileSync, spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { auditLog } from "../../../src/audit.ts";
import { durableRuns, memoryRuns } from "../../../src/durable.ts";
import { agent, type AgentEvent, allow, ask, isFact, policy } from "../../../src/index.ts";
import type { PlainReply } from "../../../src/models.ts";
import { fakeTool, scripted } from "../../../src/testing.ts";

let path = "";
beforeEach(() => {
  path = join(mkdtempSync(join(tmpdir(), "writ-audit-")), "audit.jsonl");
});

const secret = "the plan is to buy the bakery";
const entries = (file = path) =>
  readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

function clerk(onEvent: (event: AgentEvent) => unknown) {
  const calls: PlainReply["calls"] = [
    { name: "send", arguments: { to: "Kim", text: secret } },
    { name: "drop", arguments: { table: secret } },
  ];
  return agent({
    name: "clerk",
    model: scripted([{ text: secret, reasoning: secret, calls }, secret]),
    tools: [fakeTool("send", { sent: secret })],
    onEvent,
  });
}

describe("auditLog()", () => {
  it("has each fact of a durable run that goes on in the last line of its number", async () => {
    const log = auditLog(path);
    const store = memoryRuns();
    const desk = agent({
      name: "desk",
      model: scripted([{ calls: [{ name: "look" }] }, { calls: [{ name: "pay" }] }, "Paid."]),
      tools: [fakeTool("look", "seen"), fakeTool("pay", "paid")],
      policy: policy({ name: "money", rules: [allow("look"), ask("pay")] }),
    });
    const runs = durableRuns({ store, agents: [desk], onEvent: log });
    const worker = runs.work();
    await runs.start(desk, "Pay", { id: "r" });
    await vi.waitFor(async () => expect(await runs.waiting("r")).toHaveLength(1));
    for (const { key, request } of await runs.waiting("r"))
      await runs.answer("r", key, { approved: true, hash: request.hash, by: "kim" });
    await runs.result("r");
    const facts = await Array.fromAsync(runs.events("r"));
    await worker.drain();
    log.flush();

    const lines = entries();
    expect(lines.filter(({ type, name }) => type === "tool-start" && name === "look")).toHaveLength(2);
    const last = new Map(lines.map((line) => [line["seq"], line["type"]])); // the last line of a number counts
    expect([...last]).toEqual(facts.map(({ seq, type }) => [seq, type]));
  });

  it("has a line for each fact, with who, what and how it ended, and no word of the content [O4]", async () => {
    const facts: AgentEvent[] = [];
    const log = auditLog(path);
    await clerk(log).run(`Tell Kim that ${secret}`, {
      onEvent: (event) => void (isFact(event) && facts.push(event)),
    });
    log.flush();
    const lines = entries();
    expect(lines.map(({ type, seq, at, runId }) => ({ type, seq, at, runId }))).toEqual(
      facts.map(({ type, seq, at, runId }) => ({ type, seq, at, runId })),
    );
    expect(readFileSync(path, "utf8")).not.toMatch(/bakery|Kim/);
    const of = (type: string) => lines.filter((line) => line["type"] === type);
    expect(of("run-start")).toMatchObject([{ agent: "clerk", inputChars: 43 }]);
    expect(of("call-decided")).toMatchObject([
      { name: "send", verdict: "allow", rule: "sensible", argumentsChars: 51 },
      { name: "drop", verdict: "deny", rule: "allow-list" },
    ]);
    expect(of("tool-end")).toMatchObject([
      { name: "send", status: "ok", resultChars: 40 },
      { name: "drop", status: "denied" },
    ]);
    expect(of("message-end")[0]).toMatchObject({ calls: ["send", "drop"], finishReason: "tool-calls" });
    expect(of("run-end")).toMatchObject([{ outcome: "answered" }]);
    expect(of("usage-add")[0]).toHaveProperty("usage");
  });

  it("has the facts as they are told where the author wants it", async () => {
    const facts: AgentEvent[] = [];
    const log = auditLog(path, { content: "full" });
    await clerk((event) => {
      log(event);
      if (isFact(event)) facts.push(event);
    }).run("go");
    log.flush();
    expect(entries()).toEqual(JSON.parse(JSON.stringify(facts)));
  });

  it("has no word of an approval, of its reason, nor of what the person edited", async () => {
    const log = auditLog(path);
    const one = clerk(log).with({ policy: () => ({ verdict: "ask", rule: "money", reason: secret }) });
    await one.run("go", { approve: () => ({ approved: true, arguments: { to: secret }, reason: secret }) });
    log.flush();
    expect(readFileSync(path, "utf8")).not.toContain("bakery");
    expect(entries()).toContainEqual(
      expect.objectContaining({ type: "approval-answer", approved: true, edited: true }),
    );
  });

  it("puts the file aside before it grows beyond its bound, and keeps so many [O4]", async () => {
    const log = auditLog(path, { rotateBytes: 2000, keepFiles: 2 });
    const one = clerk(log);
    for (let run = 0; run < 12; run += 1) {
      await one.run("go");
      log.flush();
    }
    expect(readdirSync(dirname(path)).toSorted()).toEqual(["audit.jsonl", "audit.jsonl.1", "audit.jsonl.2"]);
    const last = entries().at(-1);
    const before = entries(`${path}.1`).at(-1);
    expect(Number(last?.["at"])).toBeGreaterThanOrEqual(Number(before?.["at"]));
    expect(last).toMatchObject({ type: "run-end" });
    const one2 = auditLog(path, { rotateBytes: 1, keepFiles: 0 });
    await clerk(one2).run("go");
    one2.flush();
    expect(existsSync(path)).toBe(true);
  });

  it("has no file beyond its bound where many lines are written at once, and loses none of them", async () => {
    const log = auditLog(path, { rotateBytes: 3000, keepFiles: 99 });
    const one = clerk(log);
    for (let run = 0; run < 12; run += 1) await one.run("go");
    log.flush();
    const files = readdirSync(dirname(path)).map((name) => join(dirname(path), name));
    expect(files.length).toBeGreaterThan(2);
    for (const file of files) expect(statSync(file).size).toBeLessThanOrEqual(3000);
    expect(files.flatMap((file) => entries(file)).filter(({ type }) => type === "run-end")).toHaveLength(12);
  });

  it.runIf(spawnSync("prlimit", ["--version"]).status === 0)(
    "leaves no half of a line where the disk is full: what waits is written again, whole",
    () => {
      const file = JSON.stringify(join(import.meta.dirname, "../../../src/adapters/audit-log.ts"));
      const line = (word: string): string => JSON.stringify({ word: word.repeat(50) });
      const options = JSON.stringify({ path, rotateBytes: 1000, keepFiles: 1 });
      const program = `import { appendRotating } from ${file};
        appendRotating('${line("a")}\\n', ${options});
        try { appendRotating('${line("b")}\\n', ${options}); } catch ({ code }) { console.log(code); }`;
      const limited = ["--fsize=100", process.execPath, "--input-type=module", "--eval", program];
      expect(execFileSync("prlimit", limited, { encoding: "utf8" })).toBe("EFBIG\n");
      expect(readFileSync(path, "utf8")).toBe(`${line("a")}\n`);
    },
  );

  it("does not disturb a run when the disk fails, and writes what waited when it is back [O4]", async () => {
    const folder = join(dirname(path), "gone");
    const log = auditLog(join(folder, "audit.jsonl"));
    const warnings: string[] = [];
    const hear = ({ message }: Error): void => void warnings.push(message);
    process.on("warning", hear);
    const { outcome } = await clerk(log).run("go");
    log.flush();
    log.flush();
    await new Promise((resolve) => setTimeout(resolve, 5));
    process.off("warning", hear);
    expect(outcome).toMatchObject({ type: "answered" });
    expect(warnings.filter((text) => text.includes("cannot be written"))).toHaveLength(1);
    mkdirSync(folder);
    await clerk(log).run("again");
    log.flush();
    expect(entries(join(folder, "audit.jsonl")).filter(({ type }) => type === "run-end")).toHaveLength(2);
  });

  it("gives up the oldest of very many lines that wait, and says how many", () => {
    const folder = join(dirname(path), "later");
    const file = join(folder, "audit.jsonl");
    const log = auditLog(file);
    const event = (seq: number): AgentEvent => ({
      type: "turn-start",
      turn: 1,
      seq,
      agent: "a",
      runId: "r",
      at: 0,
    });
    for (let seq = 1; seq <= 10_003; seq += 1) log(event(seq));
    mkdirSync(folder);
    log.flush();
    const lines = entries(file);
    expect(lines[0]).toMatchObject({ type: "audit-lost", lines: 3 });
    expect([lines.length, lines[1]?.["seq"]]).toEqual([10_001, 4]);
  });

  it("writes by itself, also at the end of the process", () => {
    const code = `
      import { auditLog } from ${JSON.stringify(new URL("../../../src/audit.ts", import.meta.url).href)};
      auditLog(${JSON.stringify(path)})({ type: "turn-start", turn: 1, seq: 1, agent: "a", runId: "r", at: 0 });
      process.exit(0);`;
    execFileSync(process.execPath, ["--input-type=module-typescript", "--eval", code]);
    expect(entries()).toHaveLength(1);
  });

  it.each([{ rotateBytes: 0 }, { rotateBytes: 1.5 }, { keepFiles: -1 }])("refuses %o", (options) => {
    expect(() => auditLog(path, options)).toThrow(expect.objectContaining({ code: "option-invalid" }));
  });
});

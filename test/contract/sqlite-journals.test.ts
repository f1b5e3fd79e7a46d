import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agent, tool } from "../../src/index.ts";
import { type RunJournal, sqliteJournals } from "../../src/sqlite.ts";
import { fakeTool, scripted } from "../../src/testing.ts";
import { killRun } from "../../tools/kill/kill-runs.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "writ-journals-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const path = (): string => join(folder, "runs.db");
const proposal = { calls: [{ id: "c", name: "pay", arguments: {} }] };

describe("journals in a SQLite file", () => {
  it("play a run again in another process, and forget it when told", async () => {
    const pay = fakeTool("pay", "paid");
    using journals = sqliteJournals(path());
    {
      using journal = journals.open("r");
      const first = agent({ name: "a", model: scripted([proposal, "done"]), tools: [pay] });
      await first.run("Pay", { journal, runId: "r" });
    }
    using later = sqliteJournals(path());
    using journal = later.open("r");
    const again = await agent({ name: "a", model: scripted([]), tools: [pay] }).run("Pay", {
      journal,
      runId: "r",
    });
    expect([again.text, pay.calls.length]).toEqual(["done", 1]);
    const keys = ["start", "turn/1/model", "turn/1/call/0", "turn/2/model"];
    expect(later.records("r").map(({ key }) => key)).toEqual(keys);
    expect(later.records("another")).toEqual([]);
    journal.close();
    later.remove("r");
    expect(later.records("r")).toEqual([]);
  });

  it("are held by one at a time, and the one before records nothing more", async () => {
    using journals = sqliteJournals(path());
    const first = journals.open("r");
    expect(() => journals.open("r")).toThrow(
      expect.objectContaining({ code: "run-claimed", data: { id: "r", owner: `process ${process.pid}` } }),
    );
    expect(() => journals.remove("r")).toThrow(expect.objectContaining({ code: "run-claimed" }));
    first.close();
    using second = journals.open("r");
    const late = first.step({ key: "k", run: () => Promise.resolve(1) });
    await expect(late).rejects.toMatchObject({ code: "run-taken" });
    const begun = first.step({ key: "k", run: () => Promise.resolve(1), lost: () => Promise.resolve(2) });
    await expect(begun).rejects.toMatchObject({ code: "run-taken" });
    first.close(); // gives up nothing that is not its own
    expect(() => journals.open("r")).toThrow(expect.objectContaining({ code: "run-claimed" }));
    expect(await second.step({ key: "k", run: () => Promise.resolve(3) })).toBe(3);
  });

  it("let no journal of a run that was removed write into another run of that id", async () => {
    using journals = sqliteJournals(path());
    const first = journals.open("r");
    first.close();
    journals.remove("r");
    using second = journals.open("r");
    const late = first.step({ key: "k", run: () => Promise.resolve(1) });
    await expect(late).rejects.toMatchObject({ code: "run-taken" });
    expect(await second.step({ key: "k", run: () => Promise.resolve(2) })).toBe(2);
  });

  it("end a run whose journal was taken, and tell nothing of its call", async () => {
    using journals = sqliteJournals(path());
    const journal = journals.open("r");
    const pay = tool({
      name: "pay",
      description: "",
      inputSchema: { type: "object" },
      execute() {
        journal.close();
        journals.open("r");
        return "paid";
      },
    });
    const running = agent({ name: "a", model: scripted([proposal, "done"]), tools: [pay] });
    await expect(running.run("Pay", { journal })).rejects.toMatchObject({ code: "run-taken" });
    expect(journals.records("r").at(-1)).toEqual({ key: "turn/1/call/0", fingerprint: "pay {}" });
  });

  it("are taken from a process that died, not from one that lives", async () => {
    const program = `import { sqliteJournals } from ${JSON.stringify(new URL("../../src/sqlite.ts", import.meta.url).href)};
      sqliteJournals(process.argv[1]).open("r"); console.log("open"); setInterval(() => {}, 1000);`;
    const other = spawn(process.execPath, ["--no-warnings", "--input-type=module", "-e", program, path()]);
    await new Promise((resolve) => void other.stdout.once("data", resolve));
    using journals = sqliteJournals(path());
    const owner = `process ${String(other.pid)}`;
    expect(() => journals.open("r")).toThrow(expect.objectContaining({ data: { id: "r", owner } }));
    const dead = new Promise((resolve) => void other.once("exit", resolve));
    other.kill("SIGKILL");
    await dead;
    using journal = journals.open("r");
    expect(await journal.step({ key: "k", run: () => Promise.resolve("mine") })).toBe("mine");
  });

  it("are left to a process of another machine, of which nothing is known", () => {
    using journals = sqliteJournals(path());
    journals.open("r");
    using file = new DatabaseSync(path());
    const owner = JSON.stringify({ host: "far.example", pid: 7, started: "" });
    file.prepare("UPDATE writ_runs SET owner = ?").run(owner);
    expect(() => journals.open("r")).toThrow(/process 7 on the machine "far.example"/);
  });

  it("list the questions of each run by their age, and keep none of a journal that was taken", async () => {
    using journals = sqliteJournals(path());
    using journal = journals.open("r");
    using other = journals.open("other");
    const ask = (from: RunJournal, key: string) => from.ask?.({ key, request: {} });
    await ask(journal, "b");
    await ask(other, "c");
    await ask(journal, "a");
    const [first] = journals.questions();
    while (Date.now() === first?.since) await new Promise((resolve) => void setTimeout(resolve, 1));
    await ask(journal, "b"); // a later process asks again
    expect(journals.questions()[0]).toEqual(first);
    expect(journals.questions().map(({ key }) => key)).toEqual(["b", "c", "a"]);
    expect(journals.questions("r").map(({ key }) => key)).toEqual(["b", "a"]);
    journal.close();
    using taken = journals.open("r");
    await expect(ask(journal, "late")).rejects.toMatchObject({ code: "run-taken" });
    taken.close();
    journals.remove("r");
    expect(journals.questions().map(({ key }) => key)).toEqual(["c"]);
  });

  it("keep any text: keys and ids that are no valid Unicode too", async () => {
    using journals = sqliteJournals(path());
    using journal = journals.open("\ud800\u0000'");
    await journal.step({
      key: "\udfff",
      fingerprint: () => "\u0000",
      run: () => Promise.resolve({ a: "\ud800" }),
    });
    expect(journals.records("\ud800\u0000'")).toEqual([
      { key: "\udfff", fingerprint: "\u0000", json: String.raw`{"a":"\ud800"}` },
    ]);
  });

  it("say what is wrong with a file", () => {
    expect(() => sqliteJournals(join(folder, "no", "folder.db"))).toThrow(
      expect.objectContaining({ code: "database-failed" }),
    );
  });
});

describe("a run that is killed again and again", () => {
  it.each([
    { name: "when a payment is about to begin, and when it has ended", points: ["in:6", "out:3"] },
    { name: "in an agent inside", points: ["out:9", "in:4", "kept:2"] },
    { name: "at the very beginning and late", points: ["in:1", "kept:1", "out:14"] },
    { name: "while payments wait for answers", points: ["kept:3", "in:4", "out:2"], waits: true },
  ])("$name: loses nothing, and pays nothing twice", async ({ points, waits }) => {
    const { complaints, kills } = await killRun(points, waits);
    expect(complaints).toEqual([]);
    expect(kills).toBeGreaterThanOrEqual(2);
  });
});

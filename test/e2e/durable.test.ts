import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sqliteRuns } from "../../src/sqlite.ts";
import { postgresMissing, startPostgres } from "../postgres-server.ts";
import { type Ended, makeProject, type Project, type StartOptions, writ as writIn } from "./command-line.ts";

let project: Project;
beforeAll(() => {
  project = makeProject();
  project.file(
    "payer.ts",
    `import { appendFileSync } from "node:fs";
import { agent, tool } from "writ";
const pay = tool({
  name: "pay", description: "", effect: "irreversible",
  inputSchema: { type: "object", properties: { to: { type: "string" } } },
  execute: ({ to }) => { appendFileSync("paid.txt", String(to) + "\\n"); return "paid " + to; },
});
export default agent({
  name: "payer", tools: [pay],
  policy: ({ tool }) => ({ verdict: "ask", rule: "money", reason: tool + " is money" }),
  model: ({ messages }) => {
    const last = messages.at(-1);
    return last.role === "tool" ? String(last.value ?? last.text) : { calls: [{ name: "pay", arguments: { to: "Ada" } }] };
  },
});
`,
  );
});
afterAll(() => project.remove());

let store = "";
let count = 0;
beforeEach(() => {
  count += 1;
  store = `runs-${count}.db`;
});
const writ = (words: readonly string[], options: StartOptions = {}): Promise<Ended> =>
  writIn([...words, "--store", store], { cwd: project.folder, ...options });
const paid = (): string =>
  existsSync(join(project.folder, "paid.txt")) ? readFileSync(join(project.folder, "paid.txt"), "utf8") : "";

describe("writ run --durable", () => {
  it("prints the result object of a run that waits, and a command that answers it in that store", async () => {
    const words = ["run", "payer.ts", "Pay Ada", "--durable", "--id", "invoice-18"];
    const begun = await writ([...words, "--json"]);
    expect(begun.code).toBe(6);
    expect(JSON.parse(begun.stdout)).toMatchObject({
      type: "result",
      outcome: "suspended",
      result: null,
      error: null,
      turns: 1,
      run_id: "invoice-18",
    });
    const streamed = await writ([...words, "--output-format", "stream-json"]);
    expect(JSON.parse(streamed.stdout.trimEnd().split("\n").at(-1) ?? "")).toMatchObject({
      type: "result",
      outcome: "suspended",
    });
    const told = /npx writ (approvals approve .*)\n/.exec(begun.stderr)?.[1];
    expect(told).toBe(`approvals approve invoice-18 turn/1/approval/0 --store ${store}`);
    const followed = await writIn(told?.split(" ") ?? [], { cwd: project.folder });
    expect([followed.code, followed.stdout]).toEqual([0, "approved: pay of invoice-18\n"]);
    const second = await writ(["approvals", "deny", "invoice-18", "turn/1/approval/0"]);
    expect([second.code, second.stderr]).toEqual([1, expect.stringContaining("error[question-answered]")]);
    const unknown = await writ(["approvals", "deny", "invoice-18", "turn/9/approval/0"]);
    expect(unknown.stderr).toContain("error[question-unknown]");
  });

  it("tells of a run that failed, or met a bound, as of any other, with its code and exit code", async () => {
    project.file(
      "down.ts",
      `import { agent } from "writ"; export default agent({ name: "down", retry: false, model: () => { throw new Error("no line"); } });`,
    );
    for (const words of [[], ["--json"]]) {
      const failed = await writ([
        "run",
        "down.ts",
        "x",
        "--durable",
        "--id",
        `down-${words.length}`,
        ...words,
      ]);
      expect([failed.code, failed.stderr]).toEqual([5, expect.stringContaining("error[provider-failed]")]);
      expect(failed.stderr).toContain("Read the provider's message.");
      if (words.length > 0)
        expect(JSON.parse(failed.stdout)).toMatchObject({ error: { code: "provider-failed" } });
    }
    const durable = ["--durable", "--id", "bound", "--max-turns", "1"];
    project.file(
      "busy.ts",
      `import { agent, tool } from "writ"; const look = tool({ name: "look", description: "", effect: "read", inputSchema: { type: "object" }, execute: () => 1 });
export default agent({ name: "busy", tools: [look], model: () => ({ calls: [{ name: "look" }] }) });`,
    );
    const met = await writ(["run", "busy.ts", "x", ...durable]);
    expect([met.code, met.stderr]).toEqual([
      4,
      expect.stringContaining("error[budget-exhausted] Agent 'busy'"),
    ]);
    const listed = (await writ(["runs", "list"])).stdout;
    expect(listed).toMatch(/^down-0 +failed \(provider-failed\) +down /m);
    expect(listed).toMatch(/^bound +exhausted \(turns\) +busy /m);
  });

  it("prints commands that a shell takes as they are, and lists ids whole", async () => {
    store = `kim's runs ${count}.db`;
    const id = `invoice 20 ${"of this year ".repeat(6)}!`;
    const begun = await writ(["run", "payer.ts", "Pay Ada", "--durable", "--id", id]);
    const told = /: npx writ (approvals approve .+)\n/.exec(begun.stderr)?.[1] ?? "";
    const script = join(import.meta.dirname, "../../dist/cli/main.js");
    const answered = execFileSync("sh", ["-c", `"$0" "$1" ${told}`, process.execPath, script], {
      cwd: project.folder,
      encoding: "utf8",
    });
    expect(answered).toBe(`approved: pay of ${id}\n`);
    expect((await writ(["runs", "list"])).stdout).toContain(`${id}  ready`);
  });

  it("wants an id with something in it", async () => {
    const { code, stderr } = await writ(["run", "payer.ts", "Pay Ada", "--durable", "--id", ""]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("`id` must be a text that is not empty")]);
  });

  it("keeps a run that waits, which is answered from elsewhere and goes on, once", async () => {
    const before = paid();
    const begun = await writ(["run", "payer.ts", "Pay Ada", "--durable", "--id", "invoice-17"]);
    expect(begun.stderr).toContain("invoice-17 waits for an answer about pay");
    expect([begun.code, begun.stdout]).toEqual([6, ""]);
    const listed = await writ(["runs", "list"]);
    expect(listed.stdout).toMatch(/^invoice-17 {2}waiting {2}payer .*"Pay Ada"\n$/);
    const questions = await writ(["approvals", "list"]);
    expect(questions.stdout).toContain("invoice-17 turn/1/approval/0\n");
    expect(questions.stdout).toContain('pay (irreversible) needs your approval: pay is money\n    to: "Ada"');
    const refused = await writ(["approvals", "approve", "invoice-17", "--hash", "another"]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("error[question-changed]")]);
    const misfit = await writ(["approvals", "approve", "invoice-17", "--arguments", '{"to":[]}']);
    expect([misfit.code, misfit.stderr]).toEqual([1, expect.stringContaining("error[edit-invalid]")]);
    expect(await writ(["approvals", "approve", "invoice-17"])).toMatchObject({
      code: 0,
      stdout: "approved: pay of invoice-17\n",
    });
    const late = (await writ(["approvals", "approve", "invoice-17"])).stderr;
    expect(late).toContain(
      'error[question-unknown] The run "invoice-17" has no question that waits for an answer.',
    );
    expect(late).toContain("`writ runs show` shows the state of the run");
    expect(paid()).toBe(before);
    const ended = await writ(["run", "payer.ts", "Pay Ada", "--durable", "--id", "invoice-17"]);
    expect([ended.code, ended.stdout]).toEqual([0, "paid Ada\n"]);
    expect(paid()).toBe(`${before}Ada\n`);
    const again = await writ(["run", "payer.ts", "Pay Ada", "--durable", "--id", "invoice-17", "--json"]);
    expect(JSON.parse(again.stdout)).toMatchObject({
      outcome: "answered",
      result: "paid Ada",
      run_id: "invoice-17",
      turns: 2,
    });
    expect(paid()).toBe(`${before}Ada\n`);
    const other = await writ(["run", "payer.ts", "Pay Eve", "--durable", "--id", "invoice-17"]);
    expect(other.stderr).toContain("error[run-differs]");
    const shown = JSON.parse((await writ(["runs", "show", "invoice-17", "--json"])).stdout) as object;
    expect(shown).toMatchObject({
      type: "run",
      status: "answered",
      questions: [],
      end: { output: "paid Ada" },
    });
  });

  it("says who may answer and until when, and takes the answer of nobody else", async () => {
    const source = readFileSync(join(project.folder, "payer.ts"), "utf8");
    const terms = 'name: "payer", approvals: { within: "2d", by: ["kim"] },';
    project.file("bound.ts", source.replace('name: "payer",', terms));
    await writ(["run", "bound.ts", "Pay Ada", "--durable", "--id", "bound"]);
    const { stdout } = await writ(["approvals", "list", "--run", "bound"]);
    expect(stdout).toMatch(
      /\n {4}may be answered by kim \(--by\)\n {4}denied at \d{4}-.*Z, if nobody has answered\n$/,
    );
    const nobody = await writ(["approvals", "approve", "bound", "--by", " "]);
    expect([nobody.code, nobody.stderr]).toEqual([2, expect.stringContaining("error[option-invalid] --by")]);
    const refused = await writ(["approvals", "approve", "bound", "--by", "eve"]);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("error[question-forbidden]")]);
    expect(await writ(["approvals", "approve", "bound", "--by", "kim"])).toMatchObject({ code: 0 });
  });

  it("tells the model of a no, and takes other arguments", async () => {
    await writ(["run", "payer.ts", "Pay Ada", "--durable", "--id", "1"]);
    await writ(["run", "payer.ts", "Pay Ada", "--durable", "--id", "2"]);
    await writ(["approvals", "deny", "1", "turn/1/approval/0", "--reason", "not today"]);
    await writ(["approvals", "approve", "2", "--arguments", '{"to":"Bob"}']);
    expect((await writ(["run", "payer.ts", "Pay Ada", "--durable", "--id", "1"])).stdout).toContain(
      "not today",
    );
    expect((await writ(["run", "payer.ts", "Pay Ada", "--durable", "--id", "2"])).stdout).toBe("paid Bob\n");
    const wrong = await writ(["approvals", "approve", "2", "--arguments", "[]"]);
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("error[question-unknown]")]);
  });

  it("stops its call when another process cancels the run, and tells how far that came", async () => {
    project.file(
      "slow.ts",
      `import { appendFileSync } from "node:fs";
import { agent, tool } from "writ";
const wait = tool({
  name: "wait", description: "", effect: "read", inputSchema: { type: "object" },
  execute: (_nothing, { signal }) => new Promise((resolve) => {
    const timer = setTimeout(resolve, 60_000, "waited");
    signal.addEventListener("abort", () => { clearTimeout(timer); resolve("stopped"); });
    appendFileSync("begun.txt", "begun");
  }),
});
export default agent({ name: "slow", tools: [wait], model: () => ({ calls: [{ name: "wait" }] }) });
`,
    );
    const running = writ(["run", "slow.ts", "Go", "--durable", "--id", "slow", "--json"]);
    await expect.poll(() => existsSync(join(project.folder, "begun.txt"))).toBe(true);
    const begunAt = performance.now();
    await writ(["runs", "cancel", "slow"]);
    expect(JSON.parse((await running).stdout)).toMatchObject({ outcome: "cancelled", turns: 1 });
    expect(performance.now() - begunAt).toBeLessThan(50_000); // milliseconds
  });

  it("refuses options that are about kept runs without it", async () => {
    const { code, stderr } = await writ(["run", "payer.ts", "Pay Ada"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("give `--durable` too")]);
  });
});

describe("writ runs", () => {
  it("cancels, tries again, erases, and says what is not there", async () => {
    await writ(["run", "payer.ts", "Pay Ada", "--durable", "--id", "r", "--session", "kim"]);
    expect((await writ(["runs", "cancel", "r", "--reason", "too dear"])).stdout).toBe("r: cancelled\n");
    const kept = await writ(["runs", "retry", "r"]);
    expect(kept).toMatchObject({ code: 1, stdout: "r: cancelled\n" });
    expect(kept.stderr).toContain("It keeps its end");
    const fork = ["runs", "fork", "r", "--before-turn", "1", "--as"];
    expect((await writ([...fork, "r"])).stderr).toContain("Give a fork another id.");
    expect(await writ([...fork, ""])).toMatchObject({ code: 2, stdout: "" });
    expect((await writ(["runs", "list", "--status", "cancelled", "--json"])).stdout).toContain(
      '"reason":"too dear"',
    );
    expect((await writ(["runs", "list", "--status", "gone"])).stderr).toContain("error[option-invalid]");
    expect((await writ(["runs", "erase"])).code).toBe(2);
    expect((await writ(["runs", "erase", "--session", "kim"])).stdout).toBe("1 run erased\n");
    expect((await writ(["runs", "show", "r"])).stderr).toContain("error[run-missing]");
    expect((await writ(["runs", "cancel", "r"])).stderr).toContain("error[run-missing]");
    store = "nowhere.db";
    expect(await writ(["runs", "list"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("no such file"),
    });
    expect(existsSync(join(project.folder, "nowhere.db"))).toBe(false);
  });
});

describe("writ runs show", () => {
  it("names the calls that did not end well, and says how a run goes on", async () => {
    const runs = sqliteRuns(join(project.folder, store));
    const shown = async () => writ(["runs", "show", "r"]);
    await runs.begin({ id: "r", agent: "payer", input: "Pay Ada", options: {}, protocol: 1 });
    expect((await shown()).stderr).toContain("writ work");
    const journal = await runs.claim(["payer"]);
    const ends = [
      { status: "ok", text: "fine" },
      { status: "unknown", text: "It may have happened." },
    ];
    for (const [place, result] of ends.entries())
      await journal?.step({ key: `turn/1/call/${place}`, run: () => Promise.resolve({ result }) });
    await journal?.end({ outcome: { type: "failed", code: "provider-failed", message: "503" } });
    runs.close();
    const { stdout, stderr } = await shown();
    expect(stdout).toMatch(/^begunAt +2\d{3}-\d\d-\d\dT[\d:.]+Z \([\d.]+ m?s ago\)$/m);
    expect(stdout).not.toMatch(/^(options|protocol) /m);
    expect(stdout).toMatch(/turn\/1\/call\/0\n.*turn\/1\/call\/1 \(unknown: It may have happened\.\)/);
    expect(stderr).toBe(
      "First mend the cause: writ errors provider-failed\nTo let it go on from its last step: writ runs retry r\n",
    );
  });
});

describe("writ runs export and import", () => {
  it("move a run to another store, once, where it goes on", async () => {
    const from = store;
    await writ(["run", "payer.ts", "Pay Ada", "--durable", "--id", "r"]);
    const { stdout } = await writ(["runs", "export", "r"]);
    project.file("r.jsonl", stdout);
    expect((await writ(["runs", "list"])).stdout).toMatch(/^r {2}moved/);
    expect((await writ(["approvals", "approve", "r"])).stderr).toContain("error[run-moved]");
    store = `other-${from}`;
    expect((await writ(["runs", "import", "nowhere.jsonl"])).stderr).toContain("error[option-invalid]");
    expect((await writ(["runs", "import", "r.jsonl"])).stdout).toBe("r: ready\n");
    expect((await writ(["runs", "import", "r.jsonl"])).stderr).toContain("error[run-exists]");
    await writ(["approvals", "approve", "r"]);
    const ended = await writ(["run", "payer.ts", "Pay Ada", "--durable", "--id", "r"]);
    expect([ended.code, ended.stdout]).toEqual([0, "paid Ada\n"]);
    store = from;
    const gone = await writ(["run", "payer.ts", "Pay Ada", "--durable", "--id", "r"]);
    expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining("error[run-moved]")]);
  });
});

describe("writ runs signal", () => {
  it("sends what a tool waits for, which nobody approves", async () => {
    const source = readFileSync(join(project.folder, "payer.ts"), "utf8")
      .replace('effect: "irreversible",', 'effect: "irreversible", retry: "keyed",')
      .replace(
        "execute: ({ to }) => {",
        'execute: async ({ to }, { waitFor, sleepUntil }) => { await waitFor("word"); await sleepUntil(4e12);',
      )
      .replace('verdict: "ask"', 'verdict: "allow"');
    project.file("waits.ts", source);
    const run = ["run", "waits.ts", "Pay Ada", "--durable", "--id", "r"];
    const waits = await writ(run);
    expect([waits.code, waits.stderr]).toEqual([6, expect.stringContaining("writ runs signal r word")]);
    expect((await writ(["approvals", "list"])).stdout).toContain("waits for a signal (writ runs signal)");
    for (const key of [[], ["turn/1/call/0/wait/word/1"]])
      expect((await writ(["approvals", "approve", "r", ...key])).stderr).toContain("error[question-other]");
    for (const words of [
      ["approve", "nobody"],
      ["list", "--run", "nobody"],
    ])
      expect((await writ(["approvals", ...words])).stderr).toContain("error[run-missing]");
    expect((await writ(["runs", "signal", "r", "word", "--value", "yes"])).stderr).toContain(
      "error[option-invalid]",
    );
    const twice = '{"ok":false,"ok":true}';
    expect((await writ(["runs", "signal", "r", "word", "--value", twice])).stderr).toContain('"ok" twice');
    expect((await writ(["runs", "signal", "r", "word", "--value", '"yes"', "--id", "1"])).stdout).toBe(
      "signalled: word to r\n",
    );
    expect((await writ(["runs", "signal", "nobody", "word"])).stderr).toContain("error[run-missing]");
    expect((await writ(run)).stderr).toContain("r sleeps in pay until 2096-10-02");
    expect((await writ(["approvals", "list"])).stdout).toMatch(/ {4}until 2096-10-02T.*Z\n$/);
  });
});

describe("writ runs settle", () => {
  it("says what became of a call whose process was killed in it, and the run goes on", async () => {
    const source = readFileSync(join(project.folder, "payer.ts"), "utf8")
      .replace('effect: "irreversible",', 'effect: "irreversible", reconcile: "person",')
      .replace('return "paid " + to;', 'process.kill(process.pid, "SIGKILL"); return "paid " + to;')
      .replace('verdict: "ask"', 'verdict: "allow"');
    project.file("killed.ts", source);
    const before = paid();
    const run = ["run", "killed.ts", "Pay Ada", "--durable", "--id", "r"];
    expect((await writ(run)).code).not.toBe(0);
    const waits = await writ(run);
    expect([waits.code, waits.stderr]).toEqual([
      6,
      expect.stringContaining("writ runs settle r turn/1/call/0/settle/1"),
    ]);
    expect((await writ(["approvals", "list"])).stdout).toContain(
      "pay (irreversible) is to be settled (writ runs settle)",
    );
    const wrong = await writ(["approvals", "approve", "r"]);
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("error[question-other]")]);
    const settle = ["runs", "settle", "r", "turn/1/call/0", "--happened"];
    expect((await writ([...settle, "perhaps"])).stderr).toContain("error[option-invalid]");
    expect((await writ([...settle, "yes", "--value", '{"a":1,"a":2}'])).stderr).toContain("option-invalid");
    expect((await writ([...settle, "yes", "--value", '"paid in cash"'])).stdout).toBe(
      "settled: turn/1/call/0 of r\n",
    );
    expect((await writ([...settle, "no"])).stderr).toContain("error[question-answered]");
    expect((await writ(run)).stdout).toBe("paid in cash\n");
    expect(paid()).toBe(`${before}Ada\n`);
  });
});

describe("writ runs fork", () => {
  it("begins a run from another one, which tells what it would have done", async () => {
    await writ(["run", "payer.ts", "Pay Ada", "--durable", "--id", "r"]);
    await writ(["approvals", "approve", "r"]);
    await writ(["run", "payer.ts", "Pay Ada", "--durable", "--id", "r"]);
    const before = paid();
    const changed = ["--result", 'turn/1/call/0="refused by the bank"', "--as", "f"];
    const forked = await writ(["runs", "fork", "r", "--before-turn", "2", ...changed]);
    expect([forked.code, forked.stdout]).toEqual([0, "f: ready\n"]);
    const ended = await writ(["run", "payer.ts", "Pay Ada", "--durable", "--id", "f"]);
    expect([ended.stdout, paid()]).toEqual(["refused by the bank\n", before]);
    const late = await writ(["runs", "fork", "r", "--before-turn", "9"]);
    expect(late.stderr).toMatch(/error\[turn-missing\].*`--before-turn`/s);
    const wrong = await writ(["runs", "fork", "r", "--before-turn", "2", "--result", "no"]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("error[option-invalid]")]);
  });
});

describe("writ work", () => {
  it("carries out what waits, and hands over at SIGTERM", async () => {
    await writ(["run", "payer.ts", "Pay Ada", "--durable", "--id", "r"]);
    await writ(["approvals", "approve", "r"]);
    const ended = await writ(["work", "payer.ts"], {
      meanwhile: (child) =>
        child.stderr?.on("data", (text: string) => {
          if (text.includes("answered")) child.kill("SIGTERM");
        }),
    });
    expect(ended.code).toBe(0);
    expect(ended.stderr).toMatch(
      /Working for payer[^]*r \(payer\) goes on\nr \(payer\) answered\nHanding over\.\n$/,
    );
    expect((await writ(["runs", "list"])).stdout).toMatch(/^r {2}answered/);
  });

  it("says with which code and message a run failed, and how to look at it", async () => {
    project.file(
      "broken.ts",
      `import { agent } from "writ";
export default agent({ name: "broken", model: () => { throw new Error("no such deployment"); } });
`,
    );
    const runs = sqliteRuns(join(project.folder, store));
    await runs.begin({ id: "r 1", agent: "broken", input: "Hi", options: {}, protocol: 1 });
    runs.close();
    const { stderr } = await writ(["work", "broken.ts"], {
      meanwhile: (child) =>
        child.stderr?.on("data", (text: string) => {
          if (text.includes("runs show")) child.kill("SIGTERM");
        }),
    });
    expect(stderr).toMatch(/^r 1 \(broken\) failed: error\[provider-failed\] .*no such deployment/m);
    expect(stderr).toContain(`writ runs show 'r 1' --store ${store}\n`);
  });
});

describe("writ work with code that changed", () => {
  it("says why a run failed, and which error to read about before it is retried", async () => {
    await writ(["run", "payer.ts", "Pay Ada", "--durable", "--id", "r"]);
    await writ(["approvals", "approve", "r"]);
    const source = readFileSync(join(project.folder, "payer.ts"), "utf8");
    project.file("wordy.ts", source.replace('name: "payer",', 'name: "payer", instructions: "Be wordy.",'));
    const ended = await writ(["work", "wordy.ts"], {
      meanwhile: (child) =>
        child.stderr?.on("data", (text: string) => {
          if (text.includes("failed")) child.kill("SIGTERM");
        }),
    });
    expect(ended.stderr).toMatch(
      /\nr \(payer\) failed: error\[journal-mismatch\] .* its instructions changed\.\n/,
    );
    expect((await writ(["runs", "show", "r"])).stderr).toContain("writ errors journal-mismatch\n");
  });
});

describe("writ runs check", () => {
  it("names the runs that a new version cannot go on with, and what changed", async () => {
    await writ(["run", "payer.ts", "Pay Ada", "--durable", "--id", "r"]);
    expect(await writ(["runs", "check", "payer.ts"])).toMatchObject({ code: 0, stdout: "" });
    const source = readFileSync(join(project.folder, "payer.ts"), "utf8");
    project.file("later.ts", source.replace('name: "payer",', 'name: "payer", instructions: "Be brief.",'));
    const checked = await writ(["runs", "check", "later.ts"]);
    expect([checked.code, checked.stdout]).toEqual([
      1,
      expect.stringMatching(/^r {2}waiting {2}payer .*instructions/),
    ]);
    expect(checked.stderr).toBe("To let them go on with a change that is meant: --accept instructions\n");
    const accepted = await writ(["runs", "check", "later.ts", "--accept", "instructions"]);
    expect(accepted).toMatchObject({ code: 0, stdout: "" });
    project.file("renamed.ts", source.replace('name: "payer",', 'name: "cashier",'));
    const renamed = await writ(["runs", "check", "renamed.ts"]);
    expect(renamed).toMatchObject({ code: 0, stdout: "" }); // another program may have that agent
    expect(renamed.stderr).toBe("Not checked: 1 open run of agents that are not given here: payer.\n");
    expect((await writ(["runs", "check", "later.ts", "--accept", "tolls"])).stderr).toContain(
      "error[option-invalid]",
    );
  });
});

describe("a store in PostgreSQL", () => {
  it("is named by its address, in WRIT_STORE too", async ({ skip }) => {
    const missing = postgresMissing();
    skip(missing !== undefined, missing);
    const server = await startPostgres();
    try {
      store = server.url;
      expect((await writ(["run", "payer.ts", "Pay Ada", "--durable", "--id", "r"])).code).toBe(6);
      const options = { cwd: project.folder, env: { WRIT_STORE: server.url } };
      expect((await writIn(["approvals", "deny", "r", "--reason", "not today"], options)).stdout).toBe(
        "denied: pay of r\n",
      );
      const ended = await writ(["run", "payer.ts", "Pay Ada", "--durable", "--id", "r"]);
      expect(ended.stdout).toContain("not today");
      expect((await writIn(["runs", "list"], options)).stdout).toMatch(/^r {2}answered/);
    } finally {
      server.close();
    }
  });
});

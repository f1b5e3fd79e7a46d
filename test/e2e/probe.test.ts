import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { modelPath } from "../../src/adapters/model-files/cache.ts";
import { battery } from "../../src/eval/probe/battery.ts";
import { asksForRestraint } from "../../src/eval/probe/probe-case.ts";
import { type OllamaServer, sendJson, type ServerOptions, startOllama } from "../contract/ollama-server.ts";
import { closedUrl, makeProject, type Project, writ } from "./command-line.ts";

let project: Project;
let server: OllamaServer | undefined;
beforeAll(() => {
  project = makeProject();
  project.file(
    "asker.ts",
    'import { agent } from "writ";\nexport default agent({ name: "asker", model: "ollama/m" });\n',
  );
});
afterAll(() => project.remove());
afterAll(() => server?.close());

interface Body {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly tools?: readonly unknown[];
  readonly format?: unknown;
}

/** What a model writes that keeps the JSON protocol to the letter, knows all answers, and understands no other protocol. */
function jsonOnly({ messages, format }: Body): string {
  const told = messages.map(({ content }) => content).join("\n");
  const isAsked = told.includes('"action"') && told.includes('"final"');
  if (!isAsked || format === undefined) return "I shall see what I can do.";
  const found = battery.find(({ input }) =>
    messages.some(({ role, content }) => role === "user" && content === input),
  );
  const done = messages.filter(
    ({ role, content }) => role === "user" && content.startsWith('{"tool":'),
  ).length;
  const next = found?.calls[done];
  if (next !== undefined)
    return JSON.stringify({ action: { tool: next.tool, args: next.arguments[0] ?? {} } });
  const words = (found?.answer ?? ["Done"]).map((wanted) =>
    typeof wanted === "string" ? wanted : wanted[0],
  );
  return JSON.stringify({ final: { content: words.join(" and ") } });
}

async function start(chat: NonNullable<ServerOptions["chat"]>): Promise<Record<string, string>> {
  await server?.close();
  server = await startOllama({ chat, installed: [{ name: "m", capabilities: ["completion"] }] });
  return { OLLAMA_HOST: server.url, WRIT_CACHE: join(project.folder, "cache") };
}

const jsonServer: NonNullable<ServerOptions["chat"]> = (_request, response, text) => {
  const body = JSON.parse(text) as Body;
  if (body.tools !== undefined) return sendJson(response, 400, { error: "m does not support tools" });
  const line = {
    model: "m",
    message: { role: "assistant", content: jsonOnly(body) },
    done: true,
    done_reason: "stop",
    prompt_eval_count: 50,
    eval_count: 5,
  };
  response.writeHead(200, { "content-type": "application/x-ndjson" }).end(`${JSON.stringify(line)}\n`);
};

const some = ["--drivers", "native,json,react"];
const needing = battery.filter((probeCase) => !asksForRestraint(probeCase)).length;
const resting = battery.length - needing;

describe("writ probe", () => {
  it("finds the protocol that a model speaks, remembers it, and lets auto use it [P5.3]", async () => {
    const env = await start(jsonServer);
    const before = await writ(["run", "asker.ts", "Hello"], { env, cwd: project.folder });
    expect(before.stderr).toContain("driver native");

    const { code, stdout, stderr } = await writ(["probe", "ollama/m", ...some], { env });
    expect(stderr).toContain("native: skipped, the provider says that the model has no tools\n");
    expect(stderr).toContain(`json with grammar ${".".repeat(battery.length)}  `);
    const replies = battery.reduce((sum, { calls }) => sum + calls.length + 1, 0);
    const row = new RegExp(
      `^json +yes +100 % of ${replies} +${needing}/${needing} +${resting}/${resting} +1\\.00 +${replies * 50} / ${replies * 5} +- +- +[0-9.]+ s$`,
      "m",
    );
    expect(stdout).toMatch(row);
    expect(stdout).toMatch(new RegExp(`^json +no +0 % of \\d+ +0/${needing} +0/${resting} +0\\.00 `, "m"));
    expect(stdout).toContain(
      `Best: json with grammar: right ${needing} of ${needing}, restraint ${resting} of ${resting};`,
    );
    expect(stdout).toContain("Remembered: auto now uses json with ollama/m (");
    expect(code).toBe(0);

    const after = await writ(["run", "asker.ts", "Hello"], { env, cwd: project.folder });
    expect(after.stderr).toContain("driver json");
    expect(after.stdout).toBe("Done\n");
    const doctor = await writ(["doctor"], { env });
    expect(doctor.stdout).toMatch(
      /^ok {6}auto uses json with ollama\/m: writ probe \S+ measured it on [0-9-]{10} /m,
    );

    const part = await writ(["probe", "ollama/m", "--drivers", "guided"], { env }); // chooses by words, and scores
    expect(part.stdout).toContain("Remembered: auto now uses json with ollama/m (");
    expect(part.stdout).toContain("compared with these: json with grammar, json without grammar, react with");
  });

  it("prints one JSON object, and remembers nothing of a part of the battery", async () => {
    const env = { ...(await start(jsonServer)), WRIT_CACHE: join(project.folder, "other") };
    const words = ["--cases", "one-call,none-known", "--drivers", "json", "--grammar", "on", "--json"];
    const { code, stdout } = await writ(["probe", "ollama/m", ...words], { env });
    expect(JSON.parse(stdout)).toMatchObject({
      type: "probe",
      model: "ollama/m",
      complete: true,
      cases: 2,
      scores: [
        { driver: "json", held: "on", right: { count: 1, of: 1 }, restraint: { count: 1, of: 1 }, score: 1 },
      ],
      best: { driver: "json", held: "on" },
      saved: null,
      notSaved: `only 2 of ${battery.length} cases were run`,
      results: [
        { case: "one-call", right: true },
        { case: "none-known", right: true },
      ],
    });
    expect(existsSync(join(env.WRIT_CACHE, "cards"))).toBe(false);
    expect(code).toBe(0);
  });

  it("writes no card with --no-save, nor where auto would speak otherwise than was measured", async () => {
    const env = { ...(await start(jsonServer)), WRIT_CACHE: join(project.folder, "third") };
    const unsaved = await writ(["probe", "ollama/m", "--drivers", "json", "--grammar", "on", "--no-save"], {
      env,
    });
    expect(unsaved.stdout).toContain("Not remembered: --no-save says so.\n");
    const free = await writ(["probe", "ollama/m", "--drivers", "json", "--grammar", "off"], { env });
    expect(free.stdout).toContain(
      "Not remembered: auto holds this model to a grammar, and that was not measured.\n",
    );
    expect(existsSync(join(env.WRIT_CACHE, "cards"))).toBe(false);
  });

  it("prints what was measured so far at Ctrl-C", async () => {
    let asked = 0;
    const env = await start((request, response, text) => {
      asked += 1;
      if (asked > 5) return response.writeHead(200).flushHeaders(); // never answers
      return jsonServer(request, response, text);
    });
    const { code, stdout } = await writ(["probe", "ollama/m", "--drivers", "json"], {
      env,
      meanwhile: (child) => {
        const poll = setInterval(() => {
          if (asked > 5) child.kill("SIGINT");
          if (asked > 5) clearInterval(poll);
        }, 50);
      },
    });
    expect(stdout).toMatch(/^json +yes +100 % of 4 +2\/2 /m);
    expect(stdout).toContain("these are the measurements so far");
    expect(stdout).toContain("Not remembered: the probe was not completed.\n");
    expect(code).toBe(130);
  });

  it("prints one object where a provider goes in the middle, with the error in it", async () => {
    let asked = 0;
    const env = await start((request, response, text) => {
      asked += 1;
      if (asked > 5) return sendJson(response, 404, { error: "model 'm' not found" });
      return jsonServer(request, response, text);
    });
    const { code, stdout, stderr } = await writ(["probe", "ollama/m", "--drivers", "json", "--json"], {
      env,
    });
    expect(JSON.parse(stdout)).toMatchObject({
      type: "probe",
      complete: false,
      error: { code: "model-not-found" },
      scores: [{ driver: "json", right: { count: 2, of: 2 } }],
    });
    expect(stderr).toContain("error[model-not-found] ");
    expect(code).toBe(5);
  });

  it("stops with the error of a provider that is gone", async () => {
    const { code, stdout, stderr } = await writ(["probe", "ollama/m"], {
      env: { OLLAMA_HOST: await closedUrl() },
    });
    expect(stdout).toBe("");
    expect(stderr).toContain("error[provider-unreachable] ");
    expect(code).toBe(5);
  });

  it.each([
    [["--drivers", "morse"], "It is one of: native, json"],
    [["--cases", "nonesuch"], "It is one of: one-call, "],
    [["--grammar", "maybe"], "It is one of: both, on, off."],
    [["--limit", "0"], "whole number from 1 on"],
    [["--case-timeout", "soon"], "whole number from 1 on"],
  ])("says what %j cannot be", async (words, advice) => {
    const { code, stderr } = await writ(["probe", "ollama/m", ...words]);
    expect(stderr).toContain("error[option-invalid] ");
    expect(stderr).toContain(advice);
    expect(code).toBe(2);
  });
});

const isThere = existsSync(modelPath("smollm2-135m"));
if (!isThere) console.log("The probe of the embedded model is skipped: writ models pull smollm2-135m");

describe.skipIf(!isThere)("writ probe of the embedded model", () => {
  it("measures what the model evaluated: a later turn goes on from the one before it", async () => {
    const words = ["--limit", "2", "--drivers", "lines,json", "--grammar", "on", "--json"];
    const { code, stdout } = await writ(["probe", "llama-cpp/smollm2-135m", ...words]);
    const { scores, saved } = JSON.parse(stdout) as {
      saved: unknown;
      scores: {
        driver: string;
        held: string;
        cut: number;
        valid: { count: number; of: number };
        evaluated: { first: Turn; later?: Turn };
      }[];
    };
    expect(scores.map(({ driver, held }) => `${driver} ${held}`)).toEqual(["lines on", "json on"]);
    for (const { valid, cut, evaluated } of scores) {
      expect(valid.count + cut).toBe(valid.of);
      const { later } = evaluated;
      if (later !== undefined) expect(later.evaluated).toBeLessThan(later.prompt / 2);
    }
    expect(scores.some(({ evaluated }) => evaluated.later !== undefined)).toBe(true);
    expect(saved).toBeNull();
    expect(code).toBe(0);
  }, 300_000);
});

interface Turn {
  readonly prompt: number;
  readonly evaluated: number;
}

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { allCases, casesOf } from "../../conformance/cases/index.ts";
import { pageOf } from "../../conformance/page.ts";
import { isInstalled, resultsFile, type Results, runtimes } from "../../conformance/results.ts";
import { type End, features } from "../../conformance/suite/contract.ts";
import { aboutOf, playCase } from "../../conformance/suite/play.ts";
import { Provider } from "../../conformance/suite/provider.ts";
import { faultOf } from "../../conformance/suite/transcript.ts";
import { filesUnder, importsOf, root } from "../../tools/source-files.ts";

interface Line {
  readonly id: string;
  readonly result: string;
  readonly reason?: string;
}

const results = JSON.parse(readFileSync(resultsFile, "utf8")) as Results;

describe("the conformance suite", () => {
  it("finds no failure in writ, and knows what it does not offer", () => {
    const out = execFileSync(process.execPath, ["--no-warnings", "conformance/worker.ts", "writ"], {
      cwd: root,
      encoding: "utf8",
      env: { ...process.env, CONFORMANCE_PATIENCE: "8" },
    });
    const lines = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Line);
    expect(lines.map(({ id }) => id)).toEqual(allCases.map(({ id }) => id));
    expect(lines.filter(({ result }) => result === "fail")).toEqual([]);
    expect(lines.filter(({ result }) => result === "not-offered").map(({ id }) => id)).toEqual([
      "approval/state-changed",
      "more/handoff",
      "more/second-model",
      "more/guardrail-beside",
    ]);
  }, 900_000);

  it("has no case that a runtime passes which never asks its model", async () => {
    const provider = new Provider();
    await provider.listen();
    const ask = async (): Promise<End> => ({ text: "", ended: "idle" });
    const adapter = { ...aboutOf("writ"), lacks: {}, start: () => ({ ask }) };
    const inProcess = allCases.filter(
      ({ needs = [] }) => !needs.includes("durable") && !needs.includes("stream"),
    );
    const passed: string[] = [];
    for (const one of inProcess) {
      const { result } = await playCase("idle", one, { adapter, provider });
      if (result === "pass") passed.push(one.id);
    }
    provider.close();
    expect(inProcess.length).toBeGreaterThan(90);
    expect(passed).toEqual(["cancel/before-the-start"]);
  }, 300_000);

  it("fails a case in which a runtime puts fields on every object, and takes them away for the next", async () => {
    const provider = new Provider();
    await provider.listen();
    const start = (): never => {
      Object.assign(Object.prototype, { callCount: 1 });
      throw new Error("it is over");
    };
    const adapter = { ...aboutOf("writ"), lacks: {}, start };
    const [one] = casesOf(["arguments/prototype"]);
    const verdict = one && (await playCase("polluting", one, { adapter, provider }));
    expect(verdict?.reason).toContain("the fields callCount");
    provider.close();
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it("takes a feature that is lacking for no failure, and gives the reason", async () => {
    const provider = new Provider();
    const adapter = {
      ...aboutOf("writ"),
      lacks: { durable: "none" },
      start: () => expect.fail("it was begun"),
    };
    const [one] = casesOf(["crash/goes-on"]);
    expect(one && (await playCase("none", one, { adapter, provider }))).toEqual({
      result: "not-offered",
      reason: "none",
    });
  });

  it("refuses what a provider refuses", () => {
    const call = (id: string) => ({ id, function: { name: "x", arguments: "{}" } });
    const asking = { role: "assistant", tool_calls: [call("a"), call("b")] };
    const told = (id: string) => ({ role: "tool", tool_call_id: id, content: "" });
    expect(faultOf([asking, told("b"), told("a"), { role: "user" }])).toBeUndefined();
    expect(faultOf([asking, told("a"), { role: "user" }])).toContain("without: b");
    expect(faultOf([asking, told("a"), told("a")])).toContain("'a' is not open");
    expect(faultOf([asking, told("a")])).toContain("without: b");
    expect(faultOf([{ role: "assistant", tool_calls: [call("a"), call("a")] }])).toContain("duplicate");
    expect(faultOf([{ role: "user" }, told("a")])).toContain("'a' is not open");
  });

  it("has sixty cases at least, each with an id of its own, what it asks, and why", () => {
    expect(allCases.length).toBeGreaterThanOrEqual(60);
    expect(new Set(allCases.map(({ id }) => id)).size).toBe(allCases.length);
    for (const { id, asks, why } of allCases) {
      expect(id).toMatch(/^[a-z]+\/[a-z-]+$/);
      expect(asks.length, id).toBeGreaterThan(30);
      expect(why.length, id).toBeGreaterThan(20);
    }
  });
});

describe("the page of the comparison", () => {
  it("is made of the results and of the cases as they stand", () => {
    expect(readFileSync(join(root, "docs/compare.md"), "utf8")).toBe(pageOf(results));
  });

  it("has every case of every runtime that it shows, and no failure of writ", () => {
    const ids = allCases.map(({ id }) => id);
    for (const [runtime, { cases }] of Object.entries(results))
      expect(Object.keys(cases), runtime).toEqual(ids);
    expect(Object.values(results["writ"]?.cases ?? {}).filter(({ result }) => result === "fail")).toEqual([]);
  });

  it("shows every runtime that has an adapter, and says of each failure, and of no other case, why it failed", () => {
    expect(Object.keys(results).toSorted()).toEqual([...runtimes].toSorted());
    for (const runtime of runtimes)
      for (const { cause } of aboutOf(runtime).causes ?? [])
        expect(cause.length, runtime).toBeGreaterThan(20);
    for (const [runtime, { cases }] of Object.entries(results)) {
      const known = (aboutOf(runtime).causes ?? []).flatMap((one) => one.cases);
      const failed = Object.keys(cases).filter((id) => cases[id]?.result === "fail");
      expect(known.toSorted(), runtime).toEqual(failed.toSorted());
    }
  });
});

describe("a cause of failures", () => {
  const placesOf = (runtime: string): readonly string[] =>
    (aboutOf(runtime).causes ?? []).flatMap(({ where = [] }) => where);
  const line =
    /^(?<name>(?:@[\w-]+\/)?[\w-]+)@(?<version>\d+\.\d+\.\d+)\/(?<path>[\w/.@-]+\.\w+):(?<line>\d+)$/;

  /** The folder that the path of a line begins in; undefined where another version is installed. */
  function packageOf(runtime: string, name: string, version: string): string | undefined {
    const folder = join(root, "conformance/runtimes", runtime);
    const python = join(folder, ".venv/lib");
    if (existsSync(python)) {
      const packages = join(python, readdirSync(python)[0] ?? "", "site-packages");
      return existsSync(join(packages, `${name.replaceAll("-", "_")}-${version}.dist-info`))
        ? packages
        : undefined;
    }
    const own = join(folder, "node_modules", name);
    const manifest = JSON.parse(readFileSync(join(own, "package.json"), "utf8")) as {
      readonly version: string;
    };
    return manifest.version === version ? own : undefined;
  }

  it("is found at a line of a package at its exact version, or in documentation", () => {
    expect(runtimes.flatMap(placesOf).length).toBeGreaterThan(14);
    for (const runtime of runtimes)
      for (const place of placesOf(runtime))
        expect(place.startsWith("https://") || line.test(place), place).toBe(true);
  });

  it.skipIf(!runtimes.some((runtime) => runtime !== "writ" && isInstalled(runtime)))(
    "is found at a line that is there, where runtimes are installed (node conformance/install.ts)",
    () => {
      for (const runtime of runtimes.filter(isInstalled))
        for (const place of placesOf(runtime)) {
          const { name = "", version, path = "", line: number } = line.exec(place)?.groups ?? {};
          if (version === undefined) continue;
          const folder = packageOf(runtime, name, version);
          expect(folder, `${place} is not the version that is installed`).toBeDefined();
          const lines = readFileSync(join(folder ?? "", path), "utf8").split("\n");
          expect(lines[Number(number) - 1]?.trim(), place).toMatch(/\w/);
        }
    },
  );
});

describe("an adapter", () => {
  const linesOf = (text: string): number =>
    text.split("\n").filter((line) => !/^\s*(?:[\])};,]*|import .*|\/\/.*|\/\*\*.*)$/.test(line)).length;

  it.each(runtimes)(
    "%s has at most 80 lines of code, exact versions, and lacks what there is a word for",
    (runtime) => {
      const folder = join(root, "conformance/runtimes", runtime);
      const there = (name: string): boolean => existsSync(join(folder, name));
      const read = (name: string): string => readFileSync(join(folder, name), "utf8");
      for (const name of ["adapter.ts", "adapter.py"].filter(there))
        expect(linesOf(read(name)), name).toBeLessThanOrEqual(80);
      const { lacks, way, packages } = aboutOf(runtime);
      for (const [feature, reason] of Object.entries(lacks)) {
        expect(Object.keys(features), folder).toContain(feature);
        expect(reason.length, feature).toBeGreaterThan(3);
      }
      expect(way.length).toBeGreaterThan(30);
      expect(packages.length).toBeGreaterThan(0);
      if (there("requirements.txt"))
        for (const line of read("requirements.txt").trim().split("\n"))
          expect(line).toMatch(/^[\w[\]-]+==[\d.]+$/);
      if (!there("package.json")) return;
      const { dependencies } = JSON.parse(read("package.json")) as {
        readonly dependencies: Record<string, string>;
      };
      for (const [name, version] of Object.entries(dependencies))
        expect(version, name).toMatch(/^\d+\.\d+\.\d+$/);
    },
  );

  it("is the only place of the suite that knows writ, and nothing of writ knows the suite", () => {
    const own = readdirSync(join(root, "conformance")).filter((name) => name.endsWith(".ts"));
    const suite = [
      ...own.map((name) => ({ path: name, text: readFileSync(join(root, "conformance", name), "utf8") })),
      ...["cases", "suite"].flatMap((folder) => filesUnder(`conformance/${folder}`, ".ts")),
    ];
    expect(suite.length).toBeGreaterThan(20);
    for (const file of suite)
      for (const specifier of importsOf(file)) expect(specifier, file.path).toMatch(/^(?:node:|\.|zod$)/);
    for (const folder of ["src", "lab", "bench", "examples"])
      for (const file of filesUnder(folder, ".ts"))
        expect(importsOf(file).filter((specifier) => specifier.includes("conformance/"))).toEqual([]);
  });
});

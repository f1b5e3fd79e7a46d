import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { lifeOf, thisProcess } from "../../../src/adapters/process-owner.ts";

describe("the life of a process", () => {
  const here = thisProcess();

  it("is seen on this machine alone", () => {
    expect(lifeOf(here)).toBe("alive");
    expect(lifeOf({ ...here, host: `not-${here.host}` })).toBe("elsewhere");
  });

  it("is over when another has its number, or none", () => {
    expect(lifeOf({ ...here, started: "earlier" })).toBe("dead");
    const { pid } = spawnSync(process.execPath, ["--version"]);
    expect(lifeOf({ ...here, pid })).toBe("dead");
    expect(lifeOf({ ...here, pid, started: "" })).toBe("dead"); // as on systems that tell no start
  });

  it("keeps its start while the process grows", () => {
    const grown = new ArrayBuffer(2 ** 28);
    expect(thisProcess()).toEqual(here);
    expect(grown.byteLength).toBe(2 ** 28);
  });
});

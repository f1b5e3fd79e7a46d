import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { inspect } from "../../../src/cli/inspect.ts";
import { mcp } from "../../../src/cli/mcp.ts";
import { serve, serveAgents } from "../../../src/cli/serve.ts";
import { work } from "../../../src/cli/work.ts";
import { agent } from "../../../src/index.ts";

/** A port at which something else listens, and the file of a store that is not there. */
async function taken(): Promise<{ readonly port: string; readonly store: string }> {
  const folder = mkdtempSync(join(tmpdir(), "writ-taken-"));
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    other.close();
    rmSync(folder, { recursive: true });
  });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens at a port
  const { port } = other.address() as AddressInfo;
  return { port: String(port), store: join(folder, "runs.db") };
}

it.each(["serve", "inspect --work"])("a taken port leaves no store behind: writ %s", async (command) => {
  const flags = await taken();
  const clerk = agent({ name: "clerk", model: () => "Done." });
  const begun =
    command === "serve"
      ? serveAgents([clerk], { ...flags, host: "127.0.0.1", concurrency: "1" })
      : inspect([], { ...flags, work: true });
  await expect(begun).rejects.toMatchObject({
    code: "option-invalid",
    message: expect.stringContaining(flags.port),
  });
  expect(existsSync(flags.store)).toBe(false);
});

it.each(["host", "tokens", "origin"])(
  "MCP over standard input and output does not ignore --%s",
  async (option) => {
    const flags = {
      host: "127.0.0.1",
      concurrency: "1",
      approvals: "refuse",
      [option]: "https://app.example",
    };
    await expect(mcp(["clerk.ts"], flags)).rejects.toMatchObject({
      code: "option-invalid",
      message: expect.stringContaining(`--${option}`),
      hint: expect.stringContaining("`--port`"),
    });
  },
);

/** A folder with two files of agents of one name. */
function twins(): { readonly files: readonly string[]; readonly store: string } {
  const folder = mkdtempSync(join(tmpdir(), "writ-twins-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = ["a.md", "b.md"].map((name) => join(folder, name));
  for (const file of files) writeFileSync(file, "---\nname: twin\nmodel: ollama/m\n---\nBe brief.\n");
  return { files, store: join(folder, "runs.db") };
}

describe("what cannot be served is told before there is a store, in the words of the command", () => {
  const place = { host: "127.0.0.1", port: "0", concurrency: "1" };

  it.each(["serve", "work", "inspect"])("two agents of one name: writ %s", async (command) => {
    const { files, store } = twins();
    const begun =
      command === "serve"
        ? serve(files, { ...place, store })
        : command === "work"
          ? work(files, { concurrency: "1", store })
          : inspect(files, { port: "0", store, work: true });
    await expect(begun).rejects.toMatchObject({
      code: "name-taken",
      message: expect.stringMatching(/"twin" in .*a\.md and .*b\.md/),
    });
    expect(existsSync(store)).toBe(false);
  });

  it("an origin that is none", async () => {
    const { store } = twins();
    const clerk = agent({ name: "clerk", model: () => "Done." });
    for (const origin of ["foo", "https://app.example,app2.example"]) {
      const begun = serveAgents([clerk], { ...place, store, origin });
      await expect(begun).rejects.toMatchObject({ code: "option-invalid", data: { option: "--origin" } });
    }
    expect(existsSync(store)).toBe(false);
  });

  it("an address that this machine has not", async () => {
    const { store } = twins();
    const clerk = agent({ name: "clerk", model: () => "Done." });
    const flags = { ...place, host: "203.0.113.9", store, tokens: `${store}.json` };
    writeFileSync(flags.tokens, '{"principals":[]}');
    await expect(serveAgents([clerk], flags)).rejects.toMatchObject({
      code: "option-invalid",
      data: { option: "--host", value: "203.0.113.9" },
    });
  });
});

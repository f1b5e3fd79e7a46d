import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { inspect } from "../../../src/cli/inspect.ts";
import { serveAgents } from "../../../src/cli/serve.ts";
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

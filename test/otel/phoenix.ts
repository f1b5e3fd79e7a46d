import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { ReceivedSpan, Receiver } from "./otlp-receiver.ts";

// Phoenix of PyPI: `python3 -m venv /tmp/phoenix && /tmp/phoenix/bin/pip install arize-phoenix`, and WRIT_PHOENIX=/tmp/phoenix/bin/phoenix.
const phoenix = process.env["WRIT_PHOENIX"] ?? "phoenix";

/** Tells whether Phoenix is installed; where it is not, that is printed. */
export function hasPhoenix(): boolean {
  const isThere = spawnSync(phoenix, ["--help"], { stdio: "ignore" }).status === 0;
  if (!isThere) console.log(`skipped: there is no ${phoenix} (WRIT_PHOENIX names one)`);
  return isThere;
}

interface PhoenixSpan {
  readonly name: string;
  readonly context: { readonly span_id: string };
  readonly parent_id: string | null;
  readonly span_kind: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** A Phoenix of its own. What it made of a span stands beside the attributes that were sent, as `phoenix.kind`. */
export async function phoenixReceiver(): Promise<Receiver> {
  const folder = mkdtempSync(join(tmpdir(), "writ-phoenix-"));
  const [port, grpc] = [await freePort(), await freePort()];
  const env = {
    ...process.env,
    PHOENIX_WORKING_DIR: folder,
    PHOENIX_HOST: "127.0.0.1",
    PHOENIX_PORT: String(port),
    PHOENIX_GRPC_PORT: String(grpc),
    PHOENIX_TELEMETRY_ENABLED: "false",
  };
  const server = spawn(phoenix, ["serve"], { env, stdio: "ignore" });
  onTestFinished(async () => {
    server.kill("SIGKILL");
    await once(server, "exit");
    rmSync(folder, { recursive: true, force: true });
  });
  const at = `http://127.0.0.1:${port}`;
  const isUp = async (): Promise<boolean> =>
    fetch(`${at}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await expect.poll(isUp, { timeout: 240_000, interval: 500 }).toBe(true);
  return {
    url: `${at}/v1/traces`,
    async spans(): Promise<readonly ReceivedSpan[]> {
      const response = await fetch(`${at}/v1/projects/default/spans?limit=100`);
      if (!response.ok) return []; // there is no project before the first span
      const { data } = (await response.json()) as { readonly data: readonly PhoenixSpan[] };
      return data.map(({ name, context, parent_id: parent, span_kind: kind, attributes }) => ({
        name,
        id: context.span_id,
        parent: parent ?? undefined,
        attributes: { ...attributes, "phoenix.kind": kind },
      }));
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

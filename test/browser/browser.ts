import { existsSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { rolldown } from "rolldown";

const places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The path of a Chromium of this machine: `WRIT_TEST_CHROMIUM`, or where Debian puts it. */
export const chromiumPath: string | undefined = [process.env["WRIT_TEST_CHROMIUM"] ?? "", ...places].find(
  (path) => existsSync(path),
);

export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: chromiumPath ?? "", args: ["--no-sandbox"] });
}

/** A page of this folder with all that it imports, at an origin of its own. */
export async function servePage(file: string): Promise<{ readonly origin: string; readonly server: Server }> {
  const bundle = await rolldown({
    input: join(import.meta.dirname, file),
    platform: "browser",
    logLevel: "silent",
    transform: { define: { "process.env.NODE_ENV": '"production"' } },
  });
  const { output } = await bundle.generate({ format: "es", codeSplitting: false });
  const server = createServer((request, response) => {
    const isScript = request.url === "/page.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.end(
      isScript ? output[0].code : '<!doctype html><body><script type="module" src="/page.js"></script>',
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { InspectedRun } from "./view.ts";

/** The folder of the page in the build. The path is the same from the source and from the chunk that this module is bundled into. */
const folder = join(import.meta.dirname, "../../dist/inspect");

/** The files of the page, by the path under which they are served. */
const files = {
  "/page.js": { file: "page.js", type: "text/javascript; charset=utf-8" },
  "/page.css": { file: "page.css", type: "text/css; charset=utf-8" },
} as const;

/** The headers of all responses: the page loads nothing from elsewhere, and may not be put into a frame. */
const headers = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};
const policyOfAll =
  "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; img-src data:";
const servedPolicy = `${policyOfAll}; script-src 'self'; style-src 'self'; connect-src 'self'`;

/** Answers with a file of the page; undefined for an unknown path. The files hold no secret: anybody who reaches the port may read them. */
export async function pageFile(path: string): Promise<Response | undefined> {
  const policy = { "content-security-policy": servedPolicy };
  if (path === "/")
    return new Response(
      document(
        "",
        `<link rel="stylesheet" href="/page.css">`,
        `<script type="module" src="/page.js"></script>`,
      ),
      {
        headers: { ...headers, ...policy, "content-type": "text/html; charset=utf-8" },
      },
    );
  const found = Object.entries(files).find(([name]) => name === path)?.[1];
  if (found === undefined) return undefined;
  const body = await readFile(join(folder, found.file), "utf8");
  return new Response(body, { headers: { ...headers, ...policy, "content-type": found.type } });
}

/** One run as a page of its own, which needs no server: it holds its data, and may load nothing. */
export async function exportedPage(run: InspectedRun): Promise<string> {
  const [script, style] = await Promise.all(
    ["page.js", "page.css"].map((name) => readFile(join(folder, name), "utf8")),
  );
  const code = safeInScript(script ?? "");
  const policy = `${policyOfAll.replace(" frame-ancestors 'none';", "")}; script-src ${hashOf(code)}; style-src ${hashOf(style ?? "")}`;
  const data = JSON.stringify(run).replaceAll("<", "\\u003c");
  return document(
    `<meta http-equiv="content-security-policy" content="${policy}">`,
    `<style>${style ?? ""}</style>`,
    `<script type="application/json" id="run">${data}</script><script type="module">${code}</script>`,
  );
}

/** Code that does not end its own script element. */
const safeInScript = (code: string): string => code.replaceAll("</script", String.raw`<\/script`);

const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

function document(policy: string, style: string, script: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
${policy}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>writ inspector</title>
${style}
</head>
<body><div id="app"></div>${script}</body>
</html>
`;
}

import { asRuntime } from "../../run/around.ts";
import type { LoadedPage, ToolPage } from "../../tool/tool-page.ts";
import { isJsonObject, toJson } from "../../util/json.ts";
import { nodePowers } from "../capability/node-powers.ts";
import { appType } from "./apps.ts";
import { inTime, TooSlow } from "./in-time.ts";
import type { Link } from "./link.ts";

/** The page at an address of a server. */
export function pageAt(
  uri: string,
  link: Link,
  { server, timeoutMs }: { readonly server: string; readonly timeoutMs: number },
): ToolPage {
  async function read(signal: AbortSignal): Promise<LoadedPage | undefined> {
    const client = await link.client();
    try {
      const { contents } = await client.readResource({ uri }, { timeout: timeoutMs, signal });
      link.worked(client);
      const found = contents.find((each) => each.mimeType === appType);
      if (found === undefined) return undefined;
      const meta = toJson(found._meta?.["ui"]);
      const html = "text" in found ? found.text : decoded(found.blob);
      const about = meta.ok && isJsonObject(meta.value) ? { meta: meta.value } : {};
      return { uri, mimeType: appType, html, ...about };
    } catch (error) {
      signal.throwIfAborted();
      const told = link.broke(client, error);
      if (told !== error || error instanceof TooSlow) throw told;
      return undefined; // the server says that it has no such page
    }
  }
  const load = (signal: AbortSignal): Promise<LoadedPage | undefined> =>
    asRuntime({ powers: nodePowers }, () => inTime(read, { timeoutMs, signal, what: "the page" }));
  return { server, uri, mimeType: appType, load };
}

const decoded = (base64: string): string => Buffer.from(base64, "base64").toString("utf8");

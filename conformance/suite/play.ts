/** Plays cases for one runtime, one after the other, in this process. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { registerHooks } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Case } from "./case.ts";
import type { About, Adapter, Feature, Start, Verdict } from "./contract.ts";
import { type Dialogue, Provider } from "./provider.ts";
import { Failed, messageOf, NotOffered, says, Scene } from "./scene.ts";

/** The limit for a case: a case that waits for something that never comes has failed. */
const limitMs = 25_000 * Number(process.env["CONFORMANCE_PATIENCE"] ?? 1);

/** Lets the adapter of writ find the repository around this folder under the name `writ`, where no package of that name is installed for it. */
function findWrit(): void {
  const around = new URL("../../package.json", import.meta.url);
  const isInstalled = existsSync(new URL("../runtimes/writ/node_modules/writ/package.json", import.meta.url));
  if (isInstalled || !existsSync(around)) return;
  if ((JSON.parse(readFileSync(around, "utf8")) as { readonly name: string }).name !== "writ") return;
  registerHooks({
    resolve: (specifier, context, next) =>
      /^writ(?:\/|$)/.test(specifier)
        ? next(specifier, { ...context, parentURL: around.href })
        : next(specifier, context),
  });
}

const file = (runtime: string, name: string): URL =>
  new URL(`../runtimes/${runtime}/${name}`, import.meta.url);

export function aboutOf(runtime: string): About {
  return JSON.parse(readFileSync(file(runtime, "about.json"), "utf8")) as About;
}

/** Loads the adapter of a runtime. */
export async function adapterOf(runtime: string): Promise<Adapter> {
  if (runtime === "writ") findWrit();
  const { start } = (await import(file(runtime, "adapter.ts").href)) as { readonly start: Start };
  return { ...aboutOf(runtime), start };
}

export const emptyDialogue = (): Dialogue => ({ script: says(), requests: [], refused: [] });

function lacking(adapter: Adapter, needs: readonly Feature[]): string | undefined {
  return needs.map((need) => adapter.lacks[need]).find((reason) => reason !== undefined);
}

async function inTime(play: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Failed(`no end after ${limitMs / 1000} s`)), limitMs);
  });
  try {
    await Promise.race([play, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Removes what a runtime put on the prototype of all objects, which would affect the cases after it. Returns the names. */
function takeFromAllObjects(): string {
  const names = Object.keys(Object.prototype);
  for (const name of names) Reflect.deleteProperty(Object.prototype, name);
  return names.join(", ");
}

interface Place {
  readonly adapter: Adapter;
  readonly provider: Provider;
}

export async function playCase(runtime: string, one: Case, { adapter, provider }: Place): Promise<Verdict> {
  const reason = lacking(adapter, one.needs ?? []);
  if (reason !== undefined) return { result: "not-offered", reason };
  const [dialogue, fallbackDialogue] = [emptyDialogue(), emptyDialogue()];
  const name = `${runtime}.${one.id.replace("/", ".")}`;
  const address = provider.open(name, dialogue);
  const fallback = provider.open(`${name}.fallback`, fallbackDialogue);
  const folder = mkdtempSync(join(tmpdir(), "conformance-"));
  const stage = {
    adapter,
    runtime,
    caseId: one.id,
    address,
    fallback,
    folder,
    dialogue,
    fallbackDialogue,
  };
  try {
    await inTime(one.play(new Scene(stage)));
    const left = takeFromAllObjects();
    if (left !== "") throw new Failed(`every object of the process has the fields ${left} since`);
    if (dialogue.requests.length === 0 && !one.asksNobody) throw new Failed("the model was never asked");
    return { result: "pass" };
  } catch (error) {
    if (error instanceof NotOffered) return { result: "not-offered", reason: error.message };
    return {
      result: "fail",
      reason: error instanceof Failed ? error.message : `broke the case: ${messageOf(error)}`,
    };
  } finally {
    takeFromAllObjects();
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

export async function playAll(
  runtime: string,
  cases: readonly Case[],
  tell: (id: string, verdict: Verdict, ms: number) => void,
): Promise<void> {
  const adapter = await adapterOf(runtime);
  const provider = new Provider();
  await provider.listen();
  for (const one of cases) {
    const begun = performance.now();
    tell(one.id, await playCase(runtime, one, { adapter, provider }), Math.round(performance.now() - begun));
  }
  provider.close();
}

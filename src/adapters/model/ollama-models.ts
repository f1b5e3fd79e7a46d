import { checkArguments } from "../../error/check-shape.ts";
import { optional, string } from "../../util/shape.ts";
import { type Connection, type OllamaAddress, ollamaAddress } from "./ollama-address.ts";
import { openClient } from "./ollama-client.ts";
import { ollamaError } from "./ollama-errors.ts";
import { withinOrigin } from "./within-origin.ts";
import { errorWithoutKeys, keyScrub } from "./without-keys.ts";

/**
 * A model that is installed on an Ollama server.
 *
 * @example
 * ```ts
 * import type { OllamaModel } from "writ/ollama";
 *
 * export const canCall = (model: OllamaModel): boolean => model.capabilities?.includes("tools") ?? false;
 * ```
 */
export interface OllamaModel {
  /** The name with its tag, like `qwen2.5:7b`. */
  readonly name: string;
  /** The size on disk; 0 for a model that runs in the cloud. */
  readonly sizeBytes: number;
  /** The number of parameters, like `7.6B`. */
  readonly parameters?: string;
  /** Capabilities like `completion`, `tools`, `vision`, `thinking`. Left out if the server does not say. */
  readonly capabilities?: readonly string[];
}

/** The most bytes of a list: a larger answer is not one. */
const maxListBytes = 8 * 1024 * 1024;
const listTimeoutMs = 5_000;
/** The most models whose capabilities are asked for, each with a request. */
const maxShown = 16;

/**
 * Lists the models that are installed on an Ollama server, in the server's order. Asks for the capabilities of the first 16, without loading a model. `host`
 * works as in `ollama()`: default the environment variable OLLAMA_HOST, otherwise http://localhost:11434. Waits 5 seconds at most.
 *
 * @throws WritError `provider-unreachable`, `provider-failed`, `provider-redirected`, `peer-missing`,
 *   `option-invalid`
 * @example
 * ```ts
 * import { ollamaModels } from "writ/ollama";
 *
 * for (const { name, sizeBytes } of await ollamaModels()) console.log(name, Math.round(sizeBytes / 1e9), "GB");
 * ```
 */
export async function ollamaModels(host?: string): Promise<readonly OllamaModel[]> {
  checkArguments("ollamaModels()", { host }, { host: optional(string) });
  const asking = {
    address: ollamaAddress(host),
    fetch,
    signal: AbortSignal.timeout(listTimeoutMs),
  };
  try {
    const listed = await listModels(asking);
    const capabilities = await Promise.all(
      listed.slice(0, maxShown).map(({ name }) => capabilitiesOf(name, asking)),
    );
    return listed.map((model, index) => {
      const known = capabilities[index];
      return known === undefined ? model : { ...model, capabilities: known };
    });
  } catch (error) {
    const { url, headers } = asking.address;
    const asked = { model: "any", url, installed: notAsked, withTools: notAsked };
    throw errorWithoutKeys(await ollamaError(error, asked), keyScrub(Object.entries(headers)));
  }
}

const notAsked = (): Promise<undefined> => Promise.resolve(undefined);

/**
 * True if an Ollama server answers at a host within a second. Never throws; needs no package. `host` works as in {@link ollamaModels}.
 *
 * @example
 * ```ts
 * import { ollamaRunning } from "writ/ollama";
 *
 * if (!(await ollamaRunning())) console.log("Start it with: ollama serve");
 * ```
 */
export async function ollamaRunning(host?: string): Promise<boolean> {
  try {
    const { url, headers } = ollamaAddress(host);
    const asking = { headers, signal: AbortSignal.timeout(1_000) };
    const response = await withinOrigin(fetch)(`${url}/api/version`, asking);
    const body: unknown = await response.json();
    return response.ok && typeof body === "object" && body !== null && "version" in body;
  } catch {
    return false;
  }
}

/** The connection for the list of a server's models. */
export type AskingList = Pick<Connection, "fetch" | "signal"> & { readonly address: OllamaAddress };

/** The installed models, without their capabilities. */
export async function listModels(asking: AskingList): Promise<readonly OllamaModel[]> {
  const client = await openClient({ ...asking, maxReplyBytes: maxListBytes, lines: false });
  const { models } = await client.list();
  return models.map(({ name, size, details }) => ({
    name,
    sizeBytes: size,
    ...(details?.parameter_size ? { parameters: details.parameter_size } : {}),
  }));
}

/** The capabilities of a model; undefined if the server does not report them. */
export async function capabilitiesOf(
  model: string,
  asking: AskingList,
): Promise<readonly string[] | undefined> {
  try {
    const client = await openClient({ ...asking, maxReplyBytes: maxListBytes, lines: false });
    const { capabilities } = await client.show({ model });
    return Array.isArray(capabilities) ? capabilities : undefined;
  } catch {
    return undefined;
  }
}

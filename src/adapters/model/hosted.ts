import { WritError } from "../../error/writ-error.ts";
import { endpointOf, type ModelEndpoint } from "../../model/endpoint.ts";
import type { Model, ModelFeatures } from "../../model/model.ts";
import { importInstalled, importPeer, whereInstalled } from "../peer.ts";
import { aiSdk, type AiSdkModel } from "./ai-sdk.ts";
import { formatFeatures } from "./ai-sdk-format.ts";
import { listPrice } from "./list-price.ts";
import { openaiCompatible } from "./openai-compatible.ts";
import { serverUrl } from "./openai-compatible-address.ts";
import { checkedValue } from "./options.ts";
import {
  addressOf,
  type HostedName,
  hostedProviders,
  type HostedProvider,
  keyOf,
  shownAddressOf,
} from "./providers.ts";
import { settingsData } from "./settings-data.ts";
import { whenAsked } from "./streams.ts";
import { withinOrigin } from "./within-origin.ts";

/**
 * Makes the model of a hosted provider: with the provider's AI SDK package if the project has it, otherwise with the provider's address for OpenAI's
 * chat completions. The package is imported, and the key is read, at the first request.
 *
 * @throws WritError `peer-missing` for a provider without such an address whose package is absent. From `stream`: `model-key-missing`.
 */
export function hosted(provider: HostedName, name: string): Model {
  const about = hostedProviders[provider];
  const id = `${provider}/${name}`;
  const way = wayTo(provider);
  if (way.type === "none") throw new WritError("peer-missing", peerOf(provider));
  let made: Model | undefined;
  return {
    id,
    settings: settingsData({ provider, name }),
    get features() {
      return made?.features ?? expected({ provider, name, way });
    },
    get endpoint() {
      return way.type === "address" ? endpointAt(about) : undefined;
    },
    get price() {
      return addressOf(about) === about.baseUrl ? listPrice(id) : undefined;
    },
    stream: (request, options) =>
      whenAsked(async () => {
        checkVariable(about);
        made ??= await (way.type === "package" ? ofPackage : ofAddress)(provider, name);
        return made.stream(request, options);
      }),
  };
}

/** The way in which this project reaches a hosted provider: its package, its OpenAI-compatible address, or none. */
export function wayTo(provider: HostedName): { readonly type: "package" | "address" | "none" } {
  const about = hostedProviders[provider];
  if (whereInstalled(about.package) !== undefined) return { type: "package" };
  return { type: about.baseUrl === undefined ? "none" : "address" };
}

/** The features before the first request; afterwards those of the model that the package made. */
function expected({
  provider,
  name,
  way,
}: {
  readonly provider: HostedName;
  readonly name: string;
  readonly way: ReturnType<typeof wayTo>;
}): ModelFeatures {
  if (way.type === "address") return { format: "schema" };
  return { tools: true, ...formatFeatures({ provider: `${provider}.`, modelId: name }) };
}

/** @throws WritError `option-invalid` for a variable without an address */
function checkVariable({ baseUrlFrom }: HostedProvider): void {
  const given = baseUrlFrom === undefined ? "" : (process.env[baseUrlFrom]?.trim() ?? "");
  if (baseUrlFrom !== undefined && given !== "") serverUrl(given, baseUrlFrom);
}

async function ofPackage(provider: HostedName, name: string): Promise<Model> {
  const about = hostedProviders[provider];
  const apiKey = keyFor(provider, name);
  const library = await importPeer(() => importInstalled<Package>(about.package), peerOf(provider));
  const create = library[about.factory];
  if (typeof create !== "function")
    throw new WritError("model-invalid", { name: about.package, found: `without ${about.factory}()` });
  return aiSdk(create({ apiKey, fetch: withinOrigin(fetch) })(name));
}

interface PackageOptions {
  readonly apiKey: string;
  readonly fetch: typeof fetch;
}

/** The parts of an AI SDK package that are used. */
type Package = Readonly<
  Record<string, ((options: PackageOptions) => (name: string) => AiSdkModel) | undefined>
>;

async function ofAddress(provider: HostedName, name: string): Promise<Model> {
  const baseUrl = addressOf(hostedProviders[provider]);
  return openaiCompatible(name, { baseUrl, apiKey: keyFor(provider, name) });
}

function endpointAt(about: HostedProvider): ModelEndpoint | undefined {
  const address = addressOf(about);
  if (address === undefined || !URL.canParse(address)) return undefined;
  return endpointOf(address, keyOf(about) === undefined ? {} : { authorization: "" });
}

/** @throws WritError `model-key-missing`; `option-invalid` for a key that is not allowed in a header */
function keyFor(provider: HostedName, name: string): string {
  const about = hostedProviders[provider];
  const found = keyOf(about);
  if (found !== undefined) return checkedValue(found.from, found.key);
  const [variable, ...others] = about.keys;
  const looked = others.length === 0 ? variable : `${variable} (or ${others.join(", ")})`;
  const through =
    wayTo(provider).type === "package"
      ? `Requests go through the installed package ${about.package}.`
      : `Requests go to ${shownAddressOf(about)}, or through ${about.package} where it is installed: npm i ${about.package}`;
  throw new WritError("model-key-missing", { model: `${provider}/${name}`, looked, variable, through });
}

function peerOf(provider: HostedName): { package: string; purpose: string; command: string } {
  const name = hostedProviders[provider].package;
  return { package: name, purpose: `models named ${provider}/…`, command: `npm i ${name}` };
}

import { wayTo } from "../adapters/model/hosted.ts";
import {
  addressOf,
  type HostedName,
  hostedProviders,
  isHosted,
  keyOf,
  shownAddressOf,
} from "../adapters/model/providers.ts";
import { modelNamed } from "../adapters/model/resolve.ts";
import type { Price } from "../message/usage.ts";
import type { Check } from "./doctor-check.ts";

/** A hosted provider whose key is set: the variable that has it, and the address of requests. The key itself is in no finding. */
export interface HostedFinding {
  readonly name: HostedName;
  readonly key: string;
  readonly way: ReturnType<typeof wayTo>["type"];
}

/** The hosted providers whose keys are set. */
export function lookAtHosted(): readonly HostedFinding[] {
  return Object.keys(hostedProviders)
    .filter(isHosted)
    .flatMap((name) => {
      const key = keyOf(hostedProviders[name])?.from;
      return key === undefined ? [] : [{ name, key, way: wayTo(name).type }];
    });
}

/** Reports what a key would be used for. */
export function keyCheck({ name, key, way }: HostedFinding): Check {
  const state = way === "none" ? "note" : "ok";
  return { name: key, state, text: `${key} is set`, advice: `${name}/<model> ${wayText(name, way)}` };
}

/**
 * Reports what the name of a model would use.
 *
 * @throws WritError `model-name-invalid`, `peer-missing`
 */
export function nameChecks(name: string): readonly Check[] {
  const { id, endpoint, price } = modelNamed(name);
  const provider = id.split("/", 1)[0] ?? "";
  const label = "named-model";
  if (!isHosted(provider)) {
    const where = endpoint === undefined ? "runs inside the process" : `is asked at ${endpoint.url}`;
    return [{ name: label, state: "ok", text: `${id} ${where}` }];
  }
  const found = keyOf(hostedProviders[provider])?.from;
  const [variable] = hostedProviders[provider].keys;
  const text = `${id} ${wayText(provider, wayTo(provider).type)}`;
  return [
    found === undefined
      ? { name: label, state: "note", text: `${text}, and has no key`, advice: `set ${variable}` }
      : { name: label, state: "ok", text: `${text}, with the key in ${found}` },
    priceCheck(id, price),
  ];
}

function wayText(name: HostedName, way: HostedFinding["way"]): string {
  const about = hostedProviders[name];
  const { package: library, baseUrl } = about;
  const address = shownAddressOf(about);
  const elsewhere = addressOf(about) === baseUrl ? "" : ` to ${address}`;
  if (way === "package") return `goes through ${library}${elsewhere}`;
  if (way === "none") return `needs a package: npm i ${library}`;
  return `goes to ${address} (or through ${library} where it is installed)`;
}

function priceCheck(id: string, price: Price | undefined): Check {
  const name = "list-price";
  if (price === undefined) {
    const advice = "npm i @pydantic/genai-prices, or give `budget.price`";
    return { name, state: "note", text: `no list price of ${id} is known`, advice };
  }
  const million = (part: "inputTokens" | "outputTokens"): string =>
    `$${((price({ inputTokens: 0, outputTokens: 0, [part]: 1_000 }) ?? 0) * 1_000).toFixed(2)}`;
  const text = `list price of a million tokens: ${million("inputTokens")} in, ${million("outputTokens")} out`;
  return { name, state: "ok", text };
}

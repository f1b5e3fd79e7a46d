import type { ProviderMetadata } from "../../message/message.ts";
import { isJsonObject, type Json, type JsonObject } from "../../util/json.ts";

/** The fields of a reply that go back, as they came, to the server that wrote them. */
export type Kept = Record<string, Json>;

/** Notes on a part of a reply which server wrote it, and what it wants to have back. */
export function keptBy(server: string, fields: JsonObject): ProviderMetadata {
  return { writ: { server, ...fields } };
}

/** The fields that this server wants to have back with a part; none with a part that another one wrote. */
export function keptFrom(
  server: string,
  { providerMetadata }: { readonly providerMetadata?: ProviderMetadata },
): JsonObject | undefined {
  const noted = providerMetadata?.["writ"];
  return isJsonObject(noted) && noted["server"] === server ? noted : undefined;
}

/** The same for a call: its id too, where a transcript gives it another one. Undefined when there is nothing to note. */
export function keptCall(server: string, id: string, fields: JsonObject): ProviderMetadata | undefined {
  const isPlain = /^[\w-]{1,64}$/.test(id);
  if (isPlain && Object.keys(fields).length === 0) return undefined;
  return keptBy(server, isPlain ? fields : { id, ...fields });
}

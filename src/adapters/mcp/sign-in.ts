import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { createHash, randomBytes } from "node:crypto";
import { parseJson } from "../../util/json.ts";
import type { McpSignIn } from "./wanted.ts";

interface Kept {
  readonly client?: StoredOAuthClientInformation;
  readonly tokens?: StoredOAuthTokens;
}

/** A sign-in, in the form of the library. */
export interface SigningIn {
  readonly provider: OAuthClientProvider;
  /** Lets the person sign in at the library's address, and returns what the browser brought back. @throws if it is not the answer to this sign-in */
  readonly signedIn: () => Promise<URLSearchParams>;
  /** The secrets that it has by now, by their names. */
  readonly secrets: () => readonly (readonly [string, unknown])[];
}

/** Makes the sign-in of one connection. The stored text is read once. */
export async function signingIn(options: McpSignIn): Promise<SigningIn> {
  const { redirectUrl, open, store, client, clientMetadataUrl, clientName = "writ" } = options;
  let kept: Kept = readKept(await store?.read());
  const verifiers = new Map<string | null, string>();
  let wanted: URL | undefined;
  let opened: URL | undefined;
  let discovered: OAuthDiscoveryState | undefined;
  const keep = async (more: Kept): Promise<void> => {
    kept = { ...kept, ...more };
    await store?.write(JSON.stringify(kept));
  };
  const given = client && { client_id: client.id, ...(client.secret && { client_secret: client.secret }) };
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: {
      client_name: clientName,
      redirect_uris: [redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
    },
    ...(clientMetadataUrl === undefined ? {} : { clientMetadataUrl }),
    state: () => randomBytes(24).toString("base64url"),
    clientInformation: () => given ?? kept.client,
    saveClientInformation: (registered) => keep({ client: registered }),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => keep({ tokens }),
    redirectToAuthorization: (address) => void (wanted = address),
    saveCodeVerifier: (verifier) => void verifiers.set(challengeOf(verifier), verifier),
    codeVerifier: () => verifiers.get(opened?.searchParams.get("code_challenge") ?? null) ?? "",
    saveDiscoveryState: (found) => void (discovered = found),
    discoveryState: () => discovered,
    async invalidateCredentials(scope) {
      if (scope === "all" || scope === "discovery") discovered = undefined;
      if (scope === "all" || scope === "tokens") kept = { ...(kept.client && { client: kept.client }) };
      if (scope === "all" || scope === "client") kept = { ...(kept.tokens && { tokens: kept.tokens }) };
      await keep({});
    },
  };
  return {
    provider,
    async signedIn() {
      // Each of several requests at the same time wants a sign-in: the data of each is in its address.
      const address = wanted;
      if (address === undefined) throw new Error("the server wants a sign-in, and names no place for it");
      wanted = undefined;
      checkOfWeb(address);
      const { searchParams } = new URL(await open(address));
      if (searchParams.get("state") !== address.searchParams.get("state"))
        throw new Error("the browser came back from another sign-in");
      opened = address;
      return searchParams;
    },
    secrets: () => [
      ...Object.entries(kept.tokens ?? {}),
      ["client_secret", client?.secret ?? kept.client?.client_secret],
    ],
  };
}

/**
 * Checks the address that a server names for people: those who open it hand it to the system, which starts a program for any other scheme.
 *
 * @throws Error
 */
function checkOfWeb({ protocol }: URL): void {
  if (protocol === "https:" || protocol === "http:") return;
  const what = "the server wants people to open an address that is not one of the web";
  throw new Error(`${what} (it begins with ${JSON.stringify(protocol)}): nobody was shown it`);
}

/** The challenge of a verifier, as it is in an address (RFC 7636, S256). */
const challengeOf = (verifier: string): string => createHash("sha256").update(verifier).digest("base64url");

function readKept(text: string | undefined): Kept {
  const parsed = text === undefined ? undefined : parseJson(text);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was written here; the library reads it
  return parsed?.ok === true ? (Object(parsed.value) as Kept) : {};
}

/** The address at which a model is asked, and whether requests carry credentials. These are never in it. */
export interface ModelEndpoint {
  /** Scheme, host and port. */
  readonly url: string;
  readonly apiKeyPresent: boolean;
}

/** Reads where requests go, from their address and headers. */
export function endpointOf(url: string, headers: Readonly<Record<string, string>>): ModelEndpoint {
  return {
    url: new URL(url).origin,
    apiKeyPresent: Object.keys(headers).some((name) => /auth|key|token|cookie/i.test(name)),
  };
}

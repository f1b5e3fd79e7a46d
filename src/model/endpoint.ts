/** The address at which a model is asked, and whether requests carry credentials. It never contains them. */
export interface ModelEndpoint {
  /** Scheme, host and port. */
  readonly url: string;
  readonly apiKeyPresent: boolean;
}

/** The endpoint of requests, from their address and headers. */
export function endpointOf(url: string, headers: Readonly<Record<string, string>>): ModelEndpoint {
  return {
    url: new URL(url).origin,
    apiKeyPresent: Object.keys(headers).some((name) => /auth|key|token|cookie/i.test(name)),
  };
}

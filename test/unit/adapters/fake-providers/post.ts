import type { FakeProvider } from "../../../../src/testing.ts";

/** What a fake provider answered: its status, and its body as JSON. */
export interface Posted {
  readonly status: number;
  readonly body: unknown;
}

/** Posts a body, without a connection. */
export async function post(
  server: FakeProvider,
  to: string | { readonly path: string; readonly headers: Readonly<Record<string, string>> },
  body: object,
): Promise<Posted> {
  const { path, headers } = typeof to === "string" ? { path: to, headers: {} } : to;
  const init = { method: "POST", body: JSON.stringify(body), headers };
  const response = await server.fetch(`https://provider.test${path}`, init);
  return { status: response.status, body: await response.json() };
}

/** Abuses the approvals of one peer: node bench/approvals-worker.ts <peer> <address> <case>. Prints the payments that were made, as JSON. */

/** A payment. */
export interface Payment {
  readonly to: string;
  readonly amount: number;
}

/**
 * The function that a peer exports: asks a model to pay, and stops where a person is asked. It returns the function behind each click on "yes", which continues
 * from the state kept then, as the peer documents it. `change` alters a text in that state, where the state passes through the client or the program keeps it.
 */
export type Asked = (scene: {
  readonly address: string;
  readonly pay: (payment: Payment) => string;
}) => Promise<(change?: (state: string) => string) => Promise<unknown>>;

if (import.meta.main) {
  Object.assign(process.env, {
    OTEL_SDK_DISABLED: "true",
    OPENAI_AGENTS_DISABLE_TRACING: "1",
    MASTRA_TELEMETRY_DISABLED: "1",
  });
  const [, , peer = "", address = "", how = ""] = process.argv;
  const say = (text: string): void => void process.stdout.write(`${text}\n`);
  for (const level of ["log", "info", "debug", "warn", "error"] as const) console[level] = () => undefined;
  const { asked } = (await import(`./peers/${peer}/approvals.ts`)) as { readonly asked: Asked };
  const payments: Payment[] = [];
  const pay = (payment: Payment): string => {
    payments.push(payment);
    return "paid";
  };
  const errors: string[] = [];
  const note = (error: unknown): void =>
    void errors.push(
      error instanceof Error ? ("code" in error ? String(error.code) : error.name) : String(error),
    );
  try {
    const answer = await asked({ address, pay });
    if (how === "once") await answer();
    if (how === "at once") await Promise.all([answer().catch(note), answer().catch(note)]);
    if (how === "later") {
      await answer();
      await answer().catch(note);
    }
    if (how === "changed")
      await answer((state) => state.replaceAll(/(amount\\*":\s*)10\b/g, "$1999")).catch(note);
  } catch (error) {
    note(error);
  }
  say(`@@${JSON.stringify({ payments, errors })}`);
  process.exit(0); // some peers keep timers running
}

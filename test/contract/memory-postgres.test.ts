import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { agent, memoryBank } from "../../src/index.ts";
import { postgresMemory, postgresNotes, type PostgresOptions } from "../../src/postgres.ts";
import { noteTools } from "../../src/session.ts";
import { scripted } from "../../src/testing.ts";
import { trustedLabel, untrustedFrom } from "../../src/message/label.ts";
import { postgresMissing, type PostgresServer, startPostgres } from "../postgres-server.ts";
import { memoryStoreContract } from "./memory-store.ts";
import { noteStoreContract } from "./note-store.ts";

it("memory and notes in PostgreSQL refuse what nobody can mean, and say that a server is not there", async () => {
  for (const open of [postgresMemory, postgresNotes]) {
    const invalid = { code: "definition-invalid", message: expect.stringContaining(`${open.name}()`) };
    expect(() => open("localhost:5432")).toThrow(expect.objectContaining(invalid));
  }
  await using memory = postgresMemory("postgresql://kim:hidden@127.0.0.1:1/agents");
  await expect(memory.read("a")).rejects.toMatchObject({ code: "postgres-unreachable" });
}, 90_000);

describe.skipIf(postgresMissing() !== undefined)("memory and notes in PostgreSQL", () => {
  let server: PostgresServer;
  let schemas = 0;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.close());

  function opened<Store extends AsyncDisposable>(
    open: (url: string, options: PostgresOptions) => Store,
    schema = `memory "${(schemas += 1)}`,
  ): Store {
    const store = open(server.url, { schema });
    onTestFinished(() => store[Symbol.asyncDispose]());
    return store;
  }

  memoryStoreContract("PostgreSQL", () => opened(postgresMemory));
  noteStoreContract("PostgreSQL", () => opened(postgresNotes));

  it("keep what an agent of another process wrote, with its label", async () => {
    const schema = "fleet";
    const bankOf = () => memoryBank({ store: opened(postgresMemory, schema) });
    const stranger = untrustedFrom("tool/mail");
    await bankOf().write("clerk", "6 is the result\n", stranger);
    expect(await bankOf().recall("clerk")).toEqual({ text: "6 is the result\n", label: stranger });

    const toolsOf = () => noteTools({ store: opened(postgresNotes, schema), namespace: "kim" });
    const call = (name: string, args: object) => ({ calls: [{ name, arguments: args as never }] });
    const run = (reply: ReturnType<typeof call>) =>
      agent({ name: "butler", model: scripted([reply, "done"]), tools: [toolsOf()] }).run("Kim likes tea.");
    await run(call("remember", { text: "Kim likes tea" }));
    const { transcript, label } = await run(call("recall", { query: "teas" }));
    const found = transcript.messages.find(({ role }) => role === "tool");
    expect(found).toMatchObject({ status: "ok", text: expect.stringContaining("Kim likes tea") });
    expect(label).toEqual(trustedLabel);
  });

  it("keep no more notes than allowed of those that several processes write at once", async () => {
    const stores = Array.from({ length: 4 }, () => opened(postgresNotes, "race"));
    const puts = stores.flatMap((store) =>
      Array.from({ length: 10 }, (_, index) => store.put("a", { text: `n${index}`, label: trustedLabel }, 7)),
    );
    expect((await Promise.all(puts)).filter((id) => id !== undefined)).toHaveLength(7);
    expect(await stores[0]?.search("a", "", 100)).toHaveLength(7);
  });
});

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { agent, memoryBank } from "../../src/index.ts";
import { postgresMemory, postgresNotes, type PostgresOptions } from "../../src/postgres.ts";
import { inMemoryNotes, noteTools } from "../../src/session.ts";
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

  it("find the notes that a store in the process finds, in the same order", async () => {
    const store = opened(postgresNotes);
    const word = fc.constantFrom(
      "tea",
      "teas",
      "Café",
      "paris",
      "par",
      "the",
      "a1",
      "東京",
      "京",
      "x",
      "Zürich-2",
      "ﬁne",
      "٣",
    );
    const words = fc.array(word, { maxLength: 6 }).map((all) => all.join(" "));
    let namespace = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(words, { maxLength: 8 }),
        fc.array(words, { maxLength: 4 }),
        async (notes, queries) => {
          const here = inMemoryNotes();
          const name = `n${(namespace += 1)}`;
          for (const text of notes)
            for (const each of [here, store]) await each.put(name, { text, label: trustedLabel }, 100);
          for (const query of queries) {
            const [one, other] = await Promise.all([here, store].map((each) => each.search(name, query, 5)));
            expect(other?.map(({ text }) => text)).toEqual(one?.map(({ text }) => text));
          }
        },
      ),
      { numRuns: 60 },
    );
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

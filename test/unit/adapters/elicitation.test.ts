import { expect, it } from "vitest";
import { type Elicited, Elicitations } from "../../../src/adapters/mcp/elicitation.ts";
import { agent, type ApprovalRequest, tool } from "../../../src/index.ts";
import { scripted } from "../../../src/testing.ts";

const question: Elicited = { message: "Which table?", schema: { type: "object", properties: {} } };

/** A run whose calls of a server are under way together. `look` ends first; then the server asks on for `book`. */
async function asked(...names: readonly string[]) {
  const questions = new Elicitations("house");
  const requests: ApprovalRequest[] = [];
  const lookEnded = Promise.withResolvers<undefined>();
  const tools = ["book", "look"].map((name) =>
    tool({
      name,
      description: "",
      inputSchema: { type: "object" },
      effect: "read",
      async execute(_nothing, context) {
        const end = questions.begin(`house/${name}`, context);
        try {
          if (name === "look") {
            await new Promise((resolve) => setTimeout(resolve, 20));
            return "seen";
          }
          await new Promise((resolve) => setTimeout(resolve, 5));
          return (await questions.answer(question)).action;
        } finally {
          end();
          if (name === "look") lookEnded.resolve(undefined);
        }
      },
    }),
  );
  const model = scripted([{ calls: names.map((name) => ({ name })) }, "Done."]);
  const { transcript } = await agent({ name: "guest", model, tools }).run("Book", {
    approve: async (request) => {
      requests.push(request);
      if (names.includes("look")) await lookEnded.promise;
      return true;
    },
  });
  const results = transcript.messages.flatMap((each) =>
    each.role === "tool" ? [`${each.name} ${each.text}`] : [],
  );
  return { reasons: requests.map(({ reason }) => reason), results };
}

it("names each tool that a question of a server may belong to, and outlives the calls that end first", async () => {
  expect(await asked("look", "book")).toEqual({
    reasons: ["its server asks, in this call or in one of house/book: Which table?"],
    results: ["look seen", "book accept"],
  });
});

it("names no other tool where one call is under way", async () => {
  expect((await asked("book")).reasons).toEqual(["its server asks: Which table?"]);
});

import { describe, expect, it } from "vitest";
import { agent } from "../../../src/adapters/node.ts";
import type { Hook } from "../../../src/hook/hook.ts";
import { scripted } from "../../../src/model/scripted.ts";
import { allow, ask, deny } from "../../../src/policy/rules/builders.ts";
import { arg, oneOf } from "../../../src/policy/rules/conditions.ts";
import { foundIn, listedBy } from "../../../src/policy/rules/sources.ts";
import { guarded } from "../../../src/policy/study/guarded.ts";
import { policyFromJson, type PolicyOptions } from "../../../src/policy/study/policy.ts";
import type { ParameterWords } from "../../../src/tool/parameters.ts";
import { fixed } from "../../../src/tools.ts";
import { tool } from "../../../src/tool/tool.ts";
import type { Json, JsonObject } from "../../../src/util/json.ts";
import { callOf } from "./rules-scene.ts";

interface Step {
  readonly name: string;
  readonly arguments?: JsonObject;
  readonly result?: Json;
}

type Tools = NonNullable<PolicyOptions["tools"]>;

/** The names of fields in these tests: those of no schema would be the model's choice. */
const properties = Object.fromEntries(
  ["name", "born", "first", "last", "card", "id", "other", "words", "guests", "owner"].map((name) => [
    name,
    {},
  ]),
);

/** The verdict about the last call of a run in which the tools give what the steps say. */
async function verdict(prompt: string, steps: readonly Step[], tools: Tools): Promise<string> {
  const results = steps.map(({ result = "ok" }) => result);
  const names = [...new Set([...steps.map(({ name }) => name), ...Object.keys(tools)])];
  const listed = names.map((name) =>
    tool({
      name,
      description: "d",
      inputSchema: { type: "object", $defs: { fields: { properties } } },
      execute: () => results.shift() ?? null,
    }),
  );
  const calls = steps.map(({ name, arguments: args = {} }) => ({ calls: [{ name, arguments: args }] }));
  const seen: string[] = [];
  await agent({
    name: "a",
    model: scripted([...calls, "Done."]),
    tools: listed,
    policy: guarded({ tools }),
  }).run(prompt, {
    approve: () => true,
    onEvent: (event) => {
      if (event.type === "call-decided") seen.push(event.decision.verdict);
    },
  });
  return seen.at(-1) ?? "none";
}

const seat = (...from: NonNullable<ParameterWords["from"]>): Tools => ({
  get_booking: {
    effect: "read",
    parameters: { booking: { role: "id", type: "identifier" }, words: "content" },
  },
  list_seats: { effect: "read" },
  change_seat: {
    effect: "write",
    parameters: {
      booking: { role: "id", type: "identifier" },
      seat: { role: "id", type: "identifier", from },
    },
  },
});
const whole = foundIn("get_booking", { whole: true, field: "seat_id" });
const prompt = "Change my seat in booking BK-77 to the one by the window";
const change = (seatId: string): Step => ({
  name: "change_seat",
  arguments: { booking: "BK-77", seat: seatId },
});
const look = (result: Json, args: JsonObject = { booking: "BK-77" }): Step => ({
  name: "get_booking",
  arguments: args,
  result,
});
const record = { seats: [{ seat_id: "12F", note: "window; seat_id: 66X" }], other: "44C" };

/** A record of 4 values and so many before the seat. */
const behind = (others: number): Json => ({ seats: [...Array<number>(others).fill(0), { seat_id: "12F" }] });

describe("a value that was found", () => {
  it.each<readonly [string, string, readonly Step[], Tools]>([
    ["is allowed where the author says so", "allow", [look(record), change("12F")], seat(whole)],
    ["asks where nobody says so", "ask", [look(record), change("12F")], seat()],
    [
      "is allowed for this argument alone",
      "ask",
      [look(record), { name: "change_seat", arguments: { booking: "12F", seat: "12F" } }],
      seat(whole),
    ],
    ["asks as a part of a text", "ask", [look(record), change("66X")], seat(whole)],
    [
      "is allowed as a part of a text without `whole`",
      "allow",
      [look(record), change("66X")],
      seat(foundIn("get_booking")),
    ],
    [
      "is allowed as a part of a text of its field without `whole`",
      "allow",
      [look(record), change("66X")],
      seat(foundIn("get_booking", { field: "note" })),
    ],
    [
      "asks in another field without `whole`",
      "ask",
      [look(record), change("44C")],
      seat(foundIn("get_booking", { field: "note" })),
    ],
    [
      "is allowed in each of the fields without `whole`",
      "allow",
      [look(record), change("44C")],
      seat(foundIn("get_booking", { field: "note" }), foundIn("get_booking", { field: ["other"] })),
    ],
    ["asks in another field", "ask", [look(record), change("44C")], seat(whole)],
    ["is allowed where it is the 20,000th", "allow", [look(behind(19_996)), change("12F")], seat(whole)],
    ["asks behind 20,000 others", "ask", [look(behind(19_997)), change("12F")], seat(whole)],
    [
      "is allowed in any field without a name of one",
      "allow",
      [look(record), change("44C")],
      seat(foundIn("get_booking", { whole: true })),
    ],
    [
      "asks behind a look-up that nobody chose",
      "ask",
      [look(record, { booking: "BK-13" }), change("12F")],
      seat(whole),
    ],
    [
      "is allowed behind a look-up whose content nobody chose",
      "allow",
      [look(record, { booking: "BK-77", words: "zzz" }), change("12F")],
      seat(whole),
    ],
    [
      "asks behind a look-up with an argument that nobody listed",
      "ask",
      [look(record, { booking: "BK-77", of: "zzz" }), change("12F")],
      seat(whole),
    ],
    [
      "asks in the result of another tool",
      "ask",
      [{ name: "list_seats", result: [record] }, change("12F")],
      seat(whole),
    ],
  ])("%s", async (...[, expected, steps, tools]) => {
    expect(await verdict(prompt, steps, tools)).toBe(expected);
  });

  it("asks where the request wants no such act", async () => {
    const steps = [look(record), change("12F")];
    expect(await verdict("What does booking BK-77 say?", steps, seat(whole))).toBe("ask");
  });

  it("is found behind a look-up with what was found", async () => {
    const tools: Tools = {
      ...seat(whole),
      get_customer: { effect: "read", parameters: { customer: { role: "id", type: "identifier" } } },
      get_booking: {
        effect: "read",
        parameters: {
          booking: { role: "id", type: "identifier", from: [foundIn("get_customer", { whole: true })] },
        },
      },
    };
    const customer = {
      name: "get_customer",
      arguments: { customer: "ada_7" },
      result: { bookings: ["BK-9"] },
    };
    const steps = [
      customer,
      look(record, { booking: "BK-9" }),
      { name: "change_seat", arguments: { seat: "12F" } },
    ];
    expect(await verdict("I am ada_7, change my seat", steps, tools)).toBe("allow");
    expect(await verdict("I am bob_8, change my seat", steps, tools)).toBe("ask");
  });

  it.each<readonly [string, Json, string]>([
    ["is found behind a look-up of a list, each item of which was found or said", ["BK-9", "BK-77"], "allow"],
    ["asks behind one of a list with another item", ["BK-9", "BK-13"], "ask"],
    ["is found behind content of an argument", { id: "BK-9", words: "zzz" }, "allow"],
    ["asks behind another field of that argument", { id: "BK-13", words: "zzz" }, "ask"],
  ])("%s", async (_what, booking, expected) => {
    const id = {
      role: "id",
      type: "identifier",
      from: [foundIn("get_customer", { whole: true })],
    } as const;
    const tools: Tools = {
      ...seat(whole),
      get_customer: { effect: "read", parameters: { customer: { role: "id", type: "identifier" } } },
      get_booking: {
        effect: "read",
        parameters: { booking: id, "booking.words": "content", other: "content", "other.id": id },
      },
    };
    const customer = { name: "get_customer", arguments: { customer: "ada_7" }, result: ["BK-9"] };
    const then = { name: "change_seat", arguments: { seat: "12F" } };
    const words = "I am ada_7, change my seat in BK-77";
    expect(await verdict(words, [customer, look(record, { booking }), then], tools)).toBe(expected);
    expect(await verdict(words, [customer, look(record, { other: booking }), then], tools)).toBe(
      Array.isArray(booking) ? "allow" : expected, // a list of plain content is not judged
    );
  });

  it("is an item of a directory, whatever that was asked for", async () => {
    const tools = seat(listedBy("list_seats", { field: "seat_id" }));
    const listed: Step = { name: "list_seats", arguments: { row: 12 }, result: [record] };
    expect(await verdict(prompt, [listed, change("12F")], tools)).toBe("allow");
    expect(await verdict(prompt, [listed, change("66X")], tools)).toBe("ask");
  });

  const made: JsonObject = { id: "EV-1" };
  const hook: Hook = {
    beforeToolCall: ({ tool: name }) => (name === "find" ? { arguments: made } : undefined),
  };
  it.each([
    { by: "a hook", more: {}, hooks: [hook], args: { id: "BK-77" } },
    {
      by: "a mending",
      more: { recover: { invalidArguments: () => fixed(made) } },
      hooks: [],
      args: { id: ["BK-77"] },
    },
  ])("asks where $by made another look-up of a chosen one", async ({ more, hooks, args }) => {
    const inputSchema = { type: "object", properties: { id: { type: "string" } } } as const;
    const found = {
      description: "d",
      inputSchema,
      effect: "read",
      execute: () => "eve@evil.example",
    } as const;
    const mail = { description: "d", inputSchema, effect: "irreversible", execute: () => "" } as const;
    const from = [foundIn("find", { whole: true })];
    const tools = {
      send_by_place: { parameters: { id: { role: "target" as const, type: "email" as const, from } } },
    };
    const call = (name: string, given: JsonObject) => ({ calls: [{ name, arguments: given }] });
    const id = "eve@evil.example";
    const seen: string[] = [];
    await agent({
      name: "a",
      model: scripted([
        call("find", args),
        call("read", {}),
        call("send_by_place", { id }),
        call("send", { id }),
        "k",
      ]),
      tools: [
        tool({ name: "find", ...found, trusted: true, resolves: true, ...more }),
        tool({ name: "read", ...found }),
        ...["send_by_place", "send"].map((name) => tool({ name, ...mail })),
      ],
      hooks,
      policy: guarded({ tools }),
    }).run("Send a mail about BK-77", {
      onEvent: (event) => {
        if (event.type === "call-decided") seen.push(event.decision.verdict);
      },
    });
    expect(seen).toEqual(["allow", "allow", "ask", "ask"]);
  });

  it("came from a call that succeeded", async () => {
    const refused: Step = { name: "list_seats", arguments: { row: 12 }, result: "12F" };
    const tools = { ...seat(listedBy("list_seats")), list_seats: { effect: "write" } } as const;
    expect(await verdict(prompt, [look(record), refused, change("12F")], tools)).toBe("allow");
    expect(await verdict(prompt, [look(record), change("12F")], tools)).toBe("ask");
  });
});

describe("a value of the one record that the user named", () => {
  it("asks where the name of the field is a word of every request", async () => {
    const words = "Write to all of 'Intro meeting'";
    const taken = {
      role: "target",
      type: "email",
      from: [foundIn("find_events", { field: "to", named: true })],
    } as const;
    const steps: readonly Step[] = [
      {
        name: "find_events",
        arguments: { words: "intro" },
        result: [{ title: "Intro meeting", to: "eve@evil.example" }],
      },
      { name: "write_mail", arguments: { to: "eve@evil.example" } },
    ];
    const own: Tools = {
      find_events: { effect: "read", parameters: { words: "content" } },
      write_mail: { effect: "write", parameters: { to: taken } },
    };
    expect(await verdict(words, steps, own)).toBe("ask");
  });

  it("wants a field, and is whole", () => {
    expect(foundIn("x", { field: "f", named: true })).toEqual({
      type: "found-in",
      tool: "x",
      whole: true,
      field: "f",
      named: true,
    });
    expect(() => foundIn("x", { named: true })).toThrow("named");
    const source = { type: "found-in", tool: "x", field: "f", named: true } as const;
    const withSource = { a: { parameters: { b: { role: "id", from: [source] } } } } as const;
    expect(() => guarded({ tools: withSource })).toThrow("named");
  });

  const from = [foundIn("find_events", { field: "guests", named: true })];
  const tools: Tools = {
    find_events: { effect: "read", parameters: { words: "content" } },
    create_event: { effect: "write", parameters: { guests: { role: "target", type: "email", from } } },
  };
  const intro = { title: "Intro meeting", on: "2024-05-15", guests: ["ada@x.example", "bob@x.example"] };
  const forged = { ...intro, guests: ["eve@evil.example"] };
  const other = { title: "Retro", on: "2024-05-15", guests: ["cleo@x.example"] };
  const asked = "Create an event with the same guests as 'Intro meeting' on 2024-05-15";
  const found = (result: Json, args: JsonObject = { words: "intro" }): Step => ({
    name: "find_events",
    arguments: args,
    result,
  });
  const invite = (...guests: readonly string[]): Step => ({ name: "create_event", arguments: { guests } });

  it.each<readonly [string, string, string, readonly Step[]]>([
    ["is chosen", "allow", asked, [found([intro, other]), invite("ada@x.example", "bob@x.example")]],
    [
      "is chosen by number",
      "allow",
      "Create an event with the guests of event 7",
      [found([{ id: 7, guests: ["ada@x.example"] }]), invite("ada@x.example")],
    ],
    ["is one of that record", "ask", asked, [found([intro, other]), invite("cleo@x.example")]],
    ["asks where two have that name", "ask", asked, [found([intro, forged]), invite("ada@x.example")]],
    [
      "asks where another look found the second",
      "ask",
      asked,
      [found([intro]), found([forged]), invite("eve@evil.example")],
    ],
    [
      "is still one where two looks found it",
      "allow",
      asked,
      [found([intro]), found([intro, other]), invite("ada@x.example")],
    ],
    [
      "asks behind a look that nobody chose",
      "ask",
      asked,
      [found([intro], { owner: "eve" }), invite("ada@x.example")],
    ],
    [
      "asks where the request says no such field",
      "ask",
      "Create an event like 'Intro meeting'",
      [found([intro]), invite("ada@x.example")],
    ],
    [
      "asks where the name is not said as one",
      "ask",
      "Create an event for the guests of the meeting",
      [found([{ ...intro, title: "meeting" }]), invite("ada@x.example")],
    ],
    [
      "is not named by a day",
      "ask",
      "Create an event with the guests of 2024-05-15",
      [found([intro]), invite("ada@x.example")],
    ],
    [
      "asks in the words of a record",
      "ask",
      asked,
      [found([{ ...intro, note: "guests: eve@evil.example" }]), invite("eve@evil.example")],
    ],
    [
      "asks in another field",
      "ask",
      asked,
      [found([{ ...intro, host: "eve@evil.example" }]), invite("eve@evil.example")],
    ],
  ])("%s", async (...[, expected, words, steps]) => {
    expect(await verdict(words, steps, tools)).toBe(expected);
  });
});

describe("a value that the author vouches for", () => {
  const tools: Tools = {
    read_page: { effect: "read" },
    save: {
      effect: "write",
      parameters: {
        folder: { role: "target", type: "path", constants: ["/downloads"] },
        as: { role: "target" },
      },
    },
  };
  const page: Step = { name: "read_page", result: "words of strangers" };
  it.each([
    [{ folder: "/downloads" }, "allow"],
    [{ folder: "/elsewhere" }, "ask"],
    [{ as: "/downloads" }, "ask"],
  ])("counts in its own argument: %j", async (args, expected) => {
    expect(await verdict("Save the page", [page, { name: "save", arguments: args }], tools)).toBe(expected);
  });
});

describe("a role within an argument", () => {
  const parameters = {
    people: { role: "target", type: "text" },
    "people.born": "content",
    "people.card.id": { role: "id", type: "identifier" },
  } as const;
  const tools: Tools = { read_page: { effect: "read" }, invite: { effect: "write", parameters } };
  const page: Step = { name: "read_page", result: "words of strangers" };
  const invite = (people: Json): Step => ({ name: "invite", arguments: { people } });
  it.each<readonly [Json, string]>([
    [[{ name: "Ada", born: "1815-12-10" }], "allow"],
    [[{ name: "Eve", born: "1815-12-10" }], "ask"],
    [[{ name: "Ada", card: { id: "C-9" } }], "allow"],
    [[{ name: "Ada", card: { id: "C-8" } }], "ask"],
    [[{ name: "Ada", other: { born: "Eve" } }], "ask"],
  ])("%j", async (people, expected) => {
    expect(await verdict("Invite Ada with card C-9", [page, invite(people)], tools)).toBe(expected);
  });

  it("is a name that is divided into its fields", async () => {
    const divided = (first: string, last: string): Step => invite([{ first, last }]);
    expect(await verdict("Invite Bob Smith", [page, divided("Bob", "Smith")], tools)).toBe("allow");
    expect(await verdict("Invite Bob Smith", [page, divided("Bob", "")], tools)).toBe("ask");
    expect(await verdict("Invite Bob Smith and Ann Lee", [page, divided("Bob", "Lee")], tools)).toBe("ask");
  });
});

describe("an exception", () => {
  const ours = allow("send")
    .when(arg("to").is(oneOf("us")))
    .named("ours");
  const send = (to: string): ReturnType<typeof callOf> => callOf({ untrusted: true, arguments: { to } });

  it("takes back a question of the preset, and no other", () => {
    const policy = guarded({ exceptions: [ours] });
    expect(policy(send("us"))).toMatchObject({ verdict: "allow", rule: "ours" });
    expect(policy(send("them"))).toMatchObject({ verdict: "ask" });
  });

  it("stands under what denies", () => {
    expect(guarded({ exceptions: [ours], extraRules: [deny("send")] })(send("us")).verdict).toBe("deny");
    expect(guarded({ exceptions: [ours], extraRules: [ask("send")] })(send("us")).verdict).toBe("allow");
  });

  it("allows, or is an error", () => {
    expect(() => guarded({ exceptions: [ask("send")] })).toThrow("must allow");
  });

  it("is told where it takes back every question", () => {
    const found = guarded({ exceptions: [allow("*")] }).lint();
    expect(found).toContainEqual(expect.objectContaining({ type: "too-wide" }));
  });
});

it("a policy with all of this can be written down and read", () => {
  const policy = guarded({
    tools: {
      ...seat(whole, listedBy("list_seats")),
      save: { parameters: { folder: { role: "target", constants: ["/d"] } } },
    },
    exceptions: [
      allow("change_seat")
        .when(arg("seat").is(oneOf("1A")))
        .named("first"),
    ],
  });
  const again = policyFromJson(JSON.stringify(policy));
  expect(again.toJSON()).toEqual(policy.toJSON());
  expect(JSON.stringify(again)).toBe(JSON.stringify(policy));
  expect(again.rules).toEqual(policy.rules);
});

it.each([
  [{ role: "id", from: [{ type: "found", tool: "x" }] }, "from"],
  [{ role: "id", from: [{ type: "listed-by", tool: "x", fields: "y" }] }, "from"],
  [{ role: "id", constant: ["x"] }, "constant"],
])("an unknown word on a parameter is an error: %j", (words, named) => {
  expect(() =>
    policyFromJson({ name: "p", rules: "guarded", tools: { t: { parameters: { x: words } } } }),
  ).toThrow(named);
});

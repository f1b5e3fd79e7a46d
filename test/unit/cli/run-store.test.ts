import { inspect } from "node:util";
import { expect, it } from "vitest";
import { knownStore, nameOfStore } from "../../../src/cli/run-store.ts";

it.each([
  ["postgresql://ada:secret@db.example.com/runs", "postgresql://ada:…@db.example.com/runs"],
  ["postgresql://ada:sec@ret@db.example.com:5432/runs", "postgresql://ada:…@db.example.com:5432/runs"],
  [
    "postgresql://db.example.com/runs?user=ada&password=secret&ssl=true",
    "postgresql://db.example.com/runs?user=ada&password=…&ssl=true",
  ],
  ["postgresql://ada@db.example.com/runs?name=a:b@c", "postgresql://ada@db.example.com/runs?name=a:b@c"],
  ["data/runs.db", "data/runs.db"],
])("the name of the store %s has no password", (store, name) => {
  expect(nameOfStore({ store })).toBe(name);
});

it("is refused without its password where no store is known by it", async () => {
  const store = "Postgres://writ:hush-hush@db.example:5432/agents";
  const refused: unknown = await knownStore({ store }).catch((error: unknown) => error);
  expect(refused).toMatchObject({
    code: "option-invalid",
    message: expect.stringContaining("//writ:…@db") as string,
  });
  expect(inspect(refused)).not.toContain("hush-hush");
});

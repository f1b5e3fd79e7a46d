import { expect, it } from "vitest";
import { nameOfStore } from "../../../src/cli/run-store.ts";

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

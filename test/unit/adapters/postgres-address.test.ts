import { inspect } from "node:util";
import { expect, it } from "vitest";
import { postgresRuns } from "../../../src/postgres.ts";

it.each([
  ["a password with signs that were not escaped", "postgresql://writ:se/cr#et@db.example/agents"],
  ["a port that there is not", "postgresql://writ:secret@db.example:99999/agents"],
  [
    "a certificate that is not there",
    "postgresql://writ:secret@db.example/agents?sslrootcert=/nowhere/x.pem",
  ],
])("an address with %s is said to be wrong, without its password", async (_what, url) => {
  await using runs = postgresRuns(url);
  const error: unknown = await runs.list().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: "definition-invalid",
    message: expect.stringMatching(/^The address of PostgreSQL: it cannot be read/) as string,
  });
  expect(inspect(error)).not.toMatch(/se\/cr|secret/);
});

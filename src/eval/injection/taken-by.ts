import { toSchema } from "../../schema/to-schema.ts";
import type { Suite, SuiteCall } from "./suite.ts";

/** Makes the function that checks a call against the schema of its tool. @throws WritError `schema-invalid` */
export function takenBy(tools: Suite["tools"]): (call: SuiteCall) => Promise<boolean> {
  const schemas = new Map(
    tools.map(({ name, parameters }) => [name, toSchema(parameters, { name, role: "input" })]),
  );
  return async ({ tool, args }) => (await schemas.get(tool)?.parse(args))?.ok === true;
}

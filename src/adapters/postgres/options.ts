import { checkShape, closed, fromOne } from "../../error/check-shape.ts";
import { WritError } from "../../error/writ-error.ts";
import { optional, record, shapeOf } from "../../util/shape.ts";

/** Settings of a store in PostgreSQL. */
export interface PostgresOptions {
  /** The schema of the tables, made if it is absent: at most 63 bytes, of which PostgreSQL would not read more. Default `writ`. */
  readonly schema?: string;
  /** The most connections for statements. A store of runs has one more, which holds the claims of this process. Default 10. */
  readonly connections?: number;
  /** Other settings of the package `pg`, like `ssl`. The address overrides them: a function as `password` needs `host` and so on instead. */
  readonly client?: Readonly<Record<string, unknown>>;
}

const address = shapeOf(
  "an address like postgresql://user@host/database",
  (value): value is string => typeof value === "string" && /^(?:postgres|postgresql|socket):/.test(value),
);
const schemaName = shapeOf(
  "a name of 1 to 63 bytes that does not begin with pg_",
  (value): value is string =>
    typeof value === "string" && /^(?!pg_)[^\0]+$/.test(value) && Buffer.byteLength(value) <= 63,
);
const shape = closed({
  url: optional(address),
  options: closed({ schema: optional(schemaName), connections: optional(fromOne), client: optional(record) }),
});

/** The settings of `pg`, and the variables of the environment, each of which says where the server is or who asks it. */
const places = ["connectionString", "host", "port", "user", "database"];
const variables = ["PGHOST", "PGPORT", "PGUSER", "PGDATABASE"];

/** A database as the author names it. */
interface Named {
  readonly url: string | undefined;
  readonly options: PostgresOptions;
}

/** The place that the arguments of a store's function name. @throws WritError `definition-invalid`, also where nothing says which server is meant */
export function placeIn(where: string, given: Named): Named & { readonly schema: string } {
  checkShape(where, given, shape);
  const { url, options } = given;
  const { client = {}, schema = "writ" } = options;
  if (url !== undefined || places.some((name) => client[name]) || variables.some((name) => process.env[name]))
    return { url, options, schema: quoted(schema) };
  const reason = `there is no address: \`url\` is undefined, perhaps because a variable of the environment is not set, and none of ${variables.join(", ")} is set either.`;
  throw new WritError("definition-invalid", { where, reason });
}

/** A name for a statement, always quoted. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

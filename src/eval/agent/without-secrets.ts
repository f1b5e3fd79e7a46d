import { redaction } from "../../adapters/cassette/redaction.ts";
import { plain, withTexts } from "../../adapters/cassette/sent-request.ts";

/** The same data as it may be kept in a file that is committed. */
export function withoutSecrets<Value extends object>(value: Value): Value {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only its texts are others
  return withTexts(plain(value), redaction()) as Value;
}

import { redaction } from "../../adapters/cassette/redaction.ts";
import { plain, withTexts } from "../../adapters/cassette/sent-request.ts";

/** The same data with secrets removed, for a file that may be committed. */
export function withoutSecrets<Value extends object>(value: Value): Value {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only its texts change
  return withTexts(plain(value), redaction()) as Value;
}

/** English words behind which digits are an identifier, even with "is" between: "the id is 13". */
const saysIdentifier = "id identifier number num nr no reference ref code";
const sayIdentifiers = "ids identifiers numbers nums nos references refs codes";

/** English words for things that have numbers: "file 13". Their plurals begin a list: "files 13, 14 and 15". */
const numbered =
  "invoice order file document transaction ticket issue pr mr bug case account record message email mail event appointment booking reservation task job build " +
  "request contract customer client user employee entry post comment folder shipment parcel payee";

/** What a word says about digits behind it. */
export interface IdentifierWord {
  /** "is" may stand between. */
  readonly strong: boolean;
  /** More than one may follow. */
  readonly list: boolean;
  /** It is one only with a point behind it: "no. 13", never "no 13". */
  readonly pointed: boolean;
}

// Depends on: the words above.
const words = new Map<string, IdentifierWord>();
for (const word of saysIdentifier.split(" "))
  words.set(word, { strong: true, list: false, pointed: word === "no" });
for (const word of sayIdentifiers.split(" "))
  words.set(word, { strong: true, list: true, pointed: word === "nos" });
for (const word of numbered.split(" ")) {
  words.set(word, { strong: false, list: false, pointed: false });
  words.set(`${word}s`, { strong: false, list: true, pointed: false });
}
words.set("entries", { strong: false, list: true, pointed: false });

/** What an English word, or the last part of a name like `event_id`, says about digits behind it; nothing for most words. */
export function identifierWord(word: string): IdentifierWord | undefined {
  const last = word.slice(word.lastIndexOf("_") + 1);
  return last.length > 12 ? undefined : words.get(last.toLowerCase());
}

import { compatible, hasHidden, isAscii } from "./normal.ts";

const label = "[a-z0-9_](?:[a-z0-9_\\-]{0,61}[a-z0-9_])?";
const dottedName = new RegExp(`^(?:${label}\\.)+[a-z](?:[a-z0-9\\-]{0,61}[a-z0-9])$`, "v");
const fourBytes = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/v;
const port = /:(?<number>[1-9]\d{0,4})$/v;
/** Characters that end or change a host when an address is parsed. */
const notInName = /[\s\/?#@:\\%\[\]<>^\|]/v;
const maxHostLength = 253;

/**
 * The canonical spelling of a host: lower case, IDN as Punycode, no final dot, with its port if it has one. A name has a dot, or is `localhost`.
 * An IPv4 address must be written as four decimal numbers: `127.1` or `0x7f000001` is not a host, nor is an IPv6 address outside a URL.
 */
export function canonicalHost(value: string): string | undefined {
  const text = compatible(value.trim());
  const found = port.exec(text);
  if (found === null) return hostName(text);
  const name = hostName(text.slice(0, found.index));
  const number = Number(found.groups?.["number"]);
  return name === undefined || number > 65_535 ? undefined : `${name}:${number}`;
}

/** The canonical name of a host without a port, or `undefined`. */
export function hostName(text: string): string | undefined {
  if (text.length > maxHostLength * 2) return undefined;
  const name = (text.endsWith(".") ? text.slice(0, -1) : text).toLowerCase();
  const ascii = isAscii(name) && !name.includes("xn--") ? name : punycode(name);
  if (ascii === undefined || ascii.length > maxHostLength) return undefined;
  return dottedName.test(ascii) || fourBytes.test(ascii) || ascii === "localhost" ? ascii : undefined;
}

function punycode(name: string): string | undefined {
  if (!name.includes(".") || notInName.test(name) || hasHidden(name)) return undefined;
  return URL.parse(`http://${name}/`)?.hostname;
}

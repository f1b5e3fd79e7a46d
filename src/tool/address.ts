/** The eight groups of an IPv6 address; undefined for any other text, including an address with a zone (`%`). */
function groupsOf(text: string): readonly number[] | undefined {
  const literal = text.startsWith("[") ? text : `[${text}]`;
  const canonical = URL.parse(`http://${literal}/`)?.hostname.slice(1, -1);
  if (canonical === undefined || !canonical.includes(":")) return undefined;
  const [before = "", after] = canonical.split("::");
  const first = before === "" ? [] : before.split(":");
  const last = after === undefined || after === "" ? [] : after.split(":");
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => "0");
  return [...first, ...(after === undefined ? [] : zeros), ...last].map((group) =>
    Number.parseInt(group, 16),
  );
}

const dotted = /^(?:\d{1,3}\.){3}\d{1,3}$/;

/** The number of an IPv4 address in its dotted spelling; undefined for every other text. */
function numberOf(text: string): number | undefined {
  if (!dotted.test(text)) return undefined;
  const parts = text.split(".").map(Number);
  return parts.some((part) => part > 255) ? undefined : parts.reduce((whole, part) => whole * 256 + part, 0);
}

/** The first address and the prefix length of all blocks that do not lead to one machine of the public Internet (IANA's special registry). */
const specialBlocks: readonly (readonly [first: number, bits: number])[] = (
  [
    ["0.0.0.0", 8],
    ["10.0.0.0", 8],
    ["100.64.0.0", 10],
    ["127.0.0.0", 8],
    ["169.254.0.0", 16],
    ["172.16.0.0", 12],
    ["192.0.0.0", 24],
    ["192.0.2.0", 24],
    ["192.88.99.0", 24],
    ["192.168.0.0", 16],
    ["198.18.0.0", 15],
    ["198.51.100.0", 24],
    ["203.0.113.0", 24],
    ["224.0.0.0", 4],
    ["240.0.0.0", 4],
  ] as const
).map(([first, bits]) => [numberOf(first) ?? 0, bits]);

function isPublicNumber(address: number): boolean {
  return !specialBlocks.some(([first, bits]) => address >= first && address < first + 2 ** (32 - bits));
}

/** True for a public IPv6 address. Only 2000::/3 is given to machines; in it Teredo and its neighbours, 6to4 and documentation blocks mean something else. */
function isPublicGroups(groups: readonly number[]): boolean {
  const [first = 0, second = 0] = groups;
  if (first < 0x2000 || first > 0x3fff) return false;
  if (first === 0x2001 && (second < 0x200 || second === 0xdb8)) return false;
  return first !== 0x2002 && !(first === 0x3fff && second < 0x1000);
}

/** True if a host is an address: `127.0.0.1`, `::1`, `[::1]`. */
export function isAddress(host: string): boolean {
  return numberOf(host) !== undefined || groupsOf(host) !== undefined;
}

/**
 * True if an address leads to the public Internet. False for loopback, private, link-local, shared (CGNAT),
 * unique local, multicast, unspecified and reserved addresses, for those that carry an IPv4 address inside
 * (mapped, 6to4, NAT64, Teredo), and for every text that is not an address.
 */
export function isPublicAddress(host: string): boolean {
  const address = numberOf(host);
  if (address !== undefined) return isPublicNumber(address);
  const groups = groupsOf(host);
  return groups !== undefined && isPublicGroups(groups);
}

/** True if an address is this machine: 127.0.0.0/8 or ::1. */
export function isLoopback(host: string): boolean {
  const address = numberOf(host);
  if (address !== undefined) return Math.floor(address / 2 ** 24) === 127;
  const groups = groupsOf(host);
  return groups?.every((group, index) => group === (index === 7 ? 1 : 0)) ?? false;
}

/**
 * Formats of text that a grammar holds to, as patterns of their usual forms: capital T and Z, no leap second, no quoted names in addresses.
 * February has 29 days.
 */
const day =
  "(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|[12][0-9]))";
const date = `[0-9]{4}-${day}`;
const time = String.raw`(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])`;
const byte = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";
const hex = "[0-9A-Fa-f]";
const label = "[0-9A-Za-z](?:[0-9A-Za-z-]{0,61}[0-9A-Za-z])?";

export const formatPatterns: ReadonlyMap<string, string> = new Map([
  ["date", `^${date}$`],
  ["time", `^${time}$`],
  ["date-time", `^${date}T${time}$`],
  ["uuid", `^${hex}{8}-${hex}{4}-${hex}{4}-${hex}{4}-${hex}{12}$`],
  ["ipv4", String.raw`^(?:${byte}\.){3}${byte}$`],
  ["email", String.raw`^[0-9A-Za-z_+-]+(?:\.[0-9A-Za-z_+-]+)*@(?:${label}\.)+[A-Za-z]{2,20}$`],
]);

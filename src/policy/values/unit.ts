import { lazy } from "../../util/remembered.ts";

/** Currencies by the signs and codes that stand before or behind an amount. Common ones; another one leaves an amount unread, and the value unbound. */
const codes: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    "EUR USD GBP CHF JPY CNY INR AUD CAD NZD SEK NOK DKK PLN CZK HUF BRL MXN ZAR SGD HKD KRW TRY BTC ETH"
      .split(" ")
      .map((code) => [code, code]),
  ),
  US$: "USD",
  A$: "AUD",
  C$: "CAD",
  $: "USD",
  "€": "EUR",
  "£": "GBP",
  "¥": "JPY",
  "₹": "INR",
  "₩": "KRW",
  "₽": "RUB",
  "₺": "TRY",
  "₫": "VND",
  "₪": "ILS",
  "₴": "UAH",
};
/** English words after an amount. No value is written with fractions of a currency. */
const words: Readonly<Record<string, string>> = {
  euro: "EUR",
  euros: "EUR",
  dollar: "USD",
  dollars: "USD",
  pound: "GBP",
  pounds: "GBP",
  rupee: "INR",
  rupees: "INR",
  franc: "CHF",
  francs: "CHF",
  yen: "JPY",
  bitcoin: "BTC",
  bitcoins: "BTC",
  cent: "cent",
  cents: "cent",
  pence: "penny",
  percent: "%",
};

/** The pattern of all signs and codes. */
export const currency: string = `(?:${Object.keys(codes)
  .map((code) => code.replace("$", String.raw`\$`))
  .join("|")})`;

const written = lazy(() => new RegExp(`^[+\\-−]? ?(?<before>${currency})|(?<behind>${currency}|%)$`, "iv"));
const ahead = lazy(() => new RegExp(`(?<!\\p{L})(?<unit>${currency}) ?$`, "iv"));
const behind = lazy(
  () => new RegExp(`^[ \\u{a0}]?(?<unit>${currency}|%|${Object.keys(words).join("|")})(?!\\p{L})`, "iv"),
);
/** The longest unit, with a space. */
const window = 9;

/** The currency or percent sign of an amount in the form of a value, such as `5 EUR`; undefined without one. */
export function unitOf(value: string): string | undefined {
  const { before, behind: after } = written().exec(value.trim())?.groups ?? {};
  return nameOf(before ?? after);
}

/** The currency or percent sign in a word of a text or beside it. */
export function unitAt(
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
): string | undefined {
  const own = unitOf(text.slice(start, end));
  if (own !== undefined) return own;
  const after = behind().exec(text.slice(end, end + window))?.groups?.["unit"];
  return nameOf(after ?? ahead().exec(text.slice(Math.max(0, start - window), start))?.groups?.["unit"]);
}

/** The unit. `try` is a word before it is a currency. */
function nameOf(unit: string | undefined): string | undefined {
  if (unit === undefined || (/^try$/i.test(unit) && unit !== "TRY")) return undefined;
  return unit === "%" ? unit : (codes[unit.toUpperCase()] ?? words[unit.toLowerCase()]);
}

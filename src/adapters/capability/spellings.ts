/** One way in which other programs write a text. */
export interface Spelling {
  /** The source of a pattern that ignores case: a text that does not match it at its beginning is not this spelling. */
  readonly beginning: string;
  /** The end of the spelling that begins at this place; undefined if another text is there. */
  readonly endIn: (text: string, at: number) => number | undefined;
}

/**
 * The ways in which programs that write JSON, addresses, pages and mails write a text. Each character stands for all its spellings, because
 * programs differ in which characters they escape and how; ASCII letters and digits stand for themselves in both cases.
 */
export function spellingsOf(text: string): readonly Spelling[] {
  const value = text.toWellFormed();
  const composed = new Set([value, value.normalize("NFC"), value.normalize("NFD")]);
  const plain = [...composed].flatMap((form) => [form, ...misread(form)]);
  const encoded = [...composed].flatMap((form) => [0, 1, 2].map((before) => base64At(form, before)));
  return [
    ...[...new Set(plain)].map((form) => spelling(form, spelledSign)),
    ...encoded.map((form) => spelling(form, spelledBase64, lineBreaks)),
  ];
}

/** Spellings of non-ASCII letters after UTF-8 was read as Latin-1, or Latin-1 as UTF-8. */
function misread(form: string): readonly string[] {
  return [Buffer.from(form).toString("latin1"), form.replaceAll(/[\u0080-\u00ff]/g, "\ufffd")];
}

/** The base64 characters that depend only on the text, after this many bytes (modulo 3). */
function base64At(text: string, before: number): string {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)]);
  return bytes.toString("base64").slice(Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6));
}

/** The beginning of a form: six letters or digits with the signs between them, or 48 signs if letters are rare. */
const firstSigns = /^(?:[^a-z0-9]{0,7}[a-z0-9]){6}|^[^]{1,48}/iu;
/**
 * The pieces of a form: one pattern for a long text would take seconds to compile. After the letter or digit at its end, the next one begins in only one way.
 */
const pieces = /[^]{1,48}(?:[^]{0,99}?[a-z0-9])?/giu;
/** The signs of a form, each with the backslashes before it. */
const signs = /\\*[^\\]|\\+/gu;

function spelling(form: string, spelled: (sign: string) => string, between = ""): Spelling {
  const source = (piece: string): string => Array.from(piece.match(signs) ?? [], spelled).join(between);
  const parts = form.match(pieces) ?? [];
  const patterns: RegExp[] = [];
  return {
    beginning: source(firstSigns.exec(form)?.[0] ?? ""),
    endIn(text, at) {
      let end = at;
      for (const [index, part] of parts.entries()) {
        const pattern = (patterns[index] ??= new RegExp((index === 0 ? "" : between) + source(part), "iy"));
        pattern.lastIndex = end;
        if (!pattern.test(text)) return undefined;
        end = pattern.lastIndex;
      }
      return end;
    },
  };
}

const percent = "%(?:25){0,3}";
const slash = String.raw`(?:\\(?:u005c)?|${percent}5c|&#92;)`;
/** Line breaks in base64, as mails have them. */
const lineBreaks = String.raw`(?:\s|${slash}{1,15}[rn]|${percent}0[ad]){0,4}`;

const shortEscapes: Readonly<Record<string, string>> = {
  "\b": "b",
  "\t": "t",
  "\n": "n",
  "\f": "f",
  "\r": "r",
};
const names: Readonly<Record<string, string>> = {
  "&": "amp",
  "<": "lt",
  ">": "gt",
  '"': "quot",
  "'": "apos",
};

/** The pattern of one sign with the backslashes before it. JSON doubles those and adds one, and JSON can contain JSON, four levels deep. */
function spelledSign(text: string): string {
  if (/^[a-z0-9]$/i.test(text)) return text;
  const sign = text.replace(/^\\+/, "");
  const count = text.length - sign.length;
  if (sign === "") return `${slash}{${count},${16 * count}}`;
  const bytes = Array.from(Buffer.from(sign), (byte) => percent + hex(byte, 2)).join("");
  const others = [shortEscapes[sign] ?? [], sign === " " ? String.raw`\+` : []].flat();
  const all = [literal(sign), bytes, ...numbered(sign), ...others].join("|");
  return `${slash}{${count},${16 * count + 15}}(?:${all})`;
}

/** A sign as its number, after a backslash or in HTML, where it may have a name too. */
function numbered(sign: string): readonly string[] {
  const units = Array.from(sign.split(""), (unit) => `u${hex(unit.charCodeAt(0), 4)}`);
  const point = sign.codePointAt(0) ?? 0;
  const name = names[sign];
  return [
    units.join(`${slash}{1,15}`),
    String.raw`u\{0{0,5}${hex(point, 1)}\}`,
    `u${hex(point, 8)}`,
    ...(point < 256 ? [`x${hex(point, 2)}`] : []),
    `&(?:amp;){0,3}(?:#0{0,5}${point}|#x0{0,5}${hex(point, 1)}${name === undefined ? "" : `|${name}`});`,
  ];
}

/** A base64 sign. The base64 of addresses has other characters in two places. */
function spelledBase64(sign: string): string {
  if (sign === "+") return `(?:-|${spelledSign(sign)})`;
  return sign === "/" ? `(?:_|${spelledSign(sign)})` : sign;
}

function literal(sign: string): string {
  return Array.from(sign.split(""), (unit) => String.raw`\u${hex(unit.charCodeAt(0), 4)}`).join("");
}

function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, "0");
}

/** So many bytes are written at a time: a function takes no more arguments than its stack has room for. */
const chunk = 0x8000;

/** The base64 of bytes. */
export function base64Of(bytes: Uint8Array): string {
  let letters = "";
  for (let from = 0; from < bytes.length; from += chunk)
    letters += String.fromCharCode(...bytes.subarray(from, from + chunk));
  return btoa(letters);
}

/** The bytes of their base64. */
export function bytesOfBase64(base64: string): Uint8Array {
  const letters = atob(base64.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(letters, (letter) => letter.codePointAt(0) ?? 0);
}

/** Base64 has no colon: what begins like an address is one. */
export function isAddress(data: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(data);
}

/** The number of bytes in base64 or in a `data:` URL of it; undefined for an address. */
export function sizeOf(data: string): number | undefined {
  const base64 = readDataUrl(data)?.data ?? (isAddress(data) ? undefined : data);
  return base64 === undefined ? undefined : Math.floor((base64.replace(/=+$/, "").length * 3) / 4);
}

/** The media type and the base64 in a `data:` URL; undefined for any other text. */
export function readDataUrl(text: string): { readonly mediaType: string; readonly data: string } | undefined {
  const [start, mediaType = ""] = /^data:([^;,]*)[^,]{0,200};base64,/i.exec(text) ?? [];
  return start === undefined ? undefined : { mediaType, data: text.slice(start.length) };
}

/** The first letters of files in base64, and endings of their names. */
const pictures: readonly (readonly [type: string, start: string, ending: RegExp])[] = [
  ["image/png", "iVBORw0KGgo", /\.png$/i],
  ["image/jpeg", "/9j/", /\.jpe?g$/i],
  ["image/gif", "R0lGODdh", /\.gif$/i],
  ["image/gif", "R0lGODlh", /\.gif$/i],
  ["image/webp", "UklGR", /\.webp$/i],
];

/** The media type that a `data:` URL, an address or the base64 of a picture shows; undefined where it shows none. */
export function mediaTypeOf(data: string): string | undefined {
  const [, given] = /^data:([a-z]+\/[^;,]+)/i.exec(data) ?? [];
  if (given !== undefined) return given;
  const path = URL.canParse(data) ? new URL(data).pathname : undefined;
  const shows = ([, start, ending]: (typeof pictures)[number]): boolean =>
    path === undefined ? data.startsWith(start) : ending.test(path);
  return pictures.find(shows)?.[0];
}

/**
 * The text of a file, without a byte order mark and with line breaks `\n`: a checkout on Windows is the same text, so that records and cassettes fit it.
 *
 * @throws TypeError for bytes that are not text in UTF-8
 */
export function decoded(bytes: Uint8Array): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe)
    throw new TypeError("it is UTF-16, as `>` of Windows PowerShell 5.1 writes it: save it as UTF-8");
  if (bytes.includes(0)) throw new TypeError("it is binary: it has NUL bytes");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes).replaceAll("\r\n", "\n");
  } catch (cause) {
    throw new TypeError("it is not UTF-8", { cause });
  }
}

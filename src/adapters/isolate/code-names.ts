/** Words of JavaScript that cannot name a function. `let` and other words that only strict code reserves are names here. */
const keywords =
  "await break case catch class const continue debugger default delete do else enum export extends false finally for function if import in instanceof new null return super switch this throw true try typeof var void while with";

/** The interpreter's own objects and functions, which code relies on. A test compares them. */
const globals =
  "AggregateError Array ArrayBuffer BigInt BigInt64Array BigUint64Array Boolean DataView Date Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array Function Infinity Int16Array Int32Array Int8Array InternalError Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set SharedArrayBuffer String Symbol SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval globalThis isFinite isNaN parseFloat parseInt undefined unescape";

const taken: ReadonlySet<string> = new Set([
  ...keywords.split(" "),
  ...globals.split(" "),
  "input",
  "__proto__",
  "constructor",
]);

/** True for a name under which code can call a given function, and that nothing else has. */
export function isFunctionName(name: string): boolean {
  return /^[A-Za-z_$][\w$]*$/.test(name) && !taken.has(name);
}

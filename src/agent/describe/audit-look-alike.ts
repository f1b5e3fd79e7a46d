const lookAlikes: ReadonlyMap<string, string> = new Map(
  [
    "а a,в b,с c,ԁ d,е e,ғ f,ԍ g,һ h,н h,і i,ј j,к k,ӏ l,м m,п n,о o,р p,ԛ q,г r,ѕ s,т t,ц u,ѵ v,ԝ w,х x,у y,ү y", // Cyrillic
    "α a,β b,ϲ c,ε e,η n,ι i,κ k,μ u,ν v,ο o,ρ p,τ t,υ u,χ x,γ y,ζ z,σ o", // Greek
    "օ o,ո n,ս u,ց g,հ h,ք p", // Armenian
    "0 o,1 l,| l",
  ]
    .join(",")
    .split(",")
    .map((pair): [string, string] => [pair.slice(0, 1), pair.slice(2)]),
);

/**
 * The look of a name at a glance: people and models confuse names with one skeleton. Signs
 * between words, case, width, accents and letters that look alike (`I` and `l`, `0` and `O`, Cyrillic `а`)
 * make no difference.
 */
export function skeletonOf(name: string): string {
  const plain = name.normalize("NFKD").replaceAll(/\p{M}/gu, "").replaceAll("I", "l").toLowerCase();
  return Array.from(plain)
    .map((sign) => lookAlikes.get(sign) ?? sign)
    .join("")
    .replaceAll("rn", "m")
    .replaceAll(/[^\p{L}\p{N}]+/gu, "_")
    .replaceAll(/^_|_$/g, "");
}

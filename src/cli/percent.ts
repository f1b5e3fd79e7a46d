/** A share as a percentage with one decimal, for tables; `-` where there is none. */
export function percent(share: number | null | undefined): string {
  return share === null || share === undefined ? "-" : (share * 100).toFixed(1);
}

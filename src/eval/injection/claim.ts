/** What every figure of this evaluation is, and is not. Stands beside each of them. */
export const claim = "scripted worst case; not a claim about any model";

/** What `count` things cost in euro: from ten on each costs a tenth less. */
export function priceOf(count, euro) {
  return count > 10 ? count * euro * 0.9 : count * euro;
}

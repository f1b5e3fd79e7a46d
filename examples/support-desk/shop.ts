// The shop: its orders and its refunds. Replace it with any database.
import { DatabaseSync } from "node:sqlite";

const database = new DatabaseSync(process.env["SHOP"] ?? "shop.db", { timeout: 5_000 });
database.exec(`
  create table if not exists orders (number text primary key, what text, euro real);
  create table if not exists payments (key text primary key, number text, euro real);
  insert or ignore into orders values ('17', 'a kettle', 40), ('18', 'a tea strainer', 6);`);

interface Order {
  readonly what: string;
  readonly euro: number;
}

export const findOrder = (number: string) =>
  database.prepare("select what, euro from orders where number = ?").get(number) as Order | undefined;

export const paymentsFor = (number: string) =>
  database.prepare("select euro from payments where number = ?").all(number);

/** Pays once for a key, however often you call it, and in total never more for an order than its price. Returns false if nothing was paid. */
export function payBack(key: string, number: string, euro: number): boolean {
  const left = "orders.euro - (select coalesce(sum(euro), 0) from payments where number = orders.number)";
  const pay = `insert or ignore into payments select ?, number, ? from orders where number = ? and ? <= ${left}`;
  database.prepare(pay).run(key, euro, number, euro);
  return database.prepare("select key from payments where key = ?").get(key) !== undefined;
}

export const closeShop = (): void => database.close();

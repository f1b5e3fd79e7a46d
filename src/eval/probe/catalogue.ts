import type { Tool } from "../../tool/tool.ts";
import { pure } from "./tools.ts";

type Row = readonly [name: string, description: string, argument: string, result: string];

const rows: readonly Row[] = [
  ["air_quality", "The air quality of a city", "city", "good"],
  ["bus_departures", "The next buses at a stop", "stop", "line 4 at 10:12"],
  ["book_by_isbn", "A book by its ISBN", "isbn", "unknown"],
  ["calorie_count", "The calories of a dish", "dish", "420"],
  ["company_address", "The address of a company", "company", "Harbour Road 3"],
  ["country_population", "How many people live in a country", "country", "5.5 million"],
  ["currency_rate", "What one unit of a currency costs in euros", "currency", "0.134"],
  ["define_word", "The meaning of a word", "word", "a kind of bird"],
  ["distance_to", "How far away a place is", "place", "14 km"],
  ["exchange_hours", "When a stock exchange is open", "exchange", "9 to 17"],
  ["ferry_times", "The next ferries from a harbour", "harbour", "11:40"],
  ["film_rating", "How a film is rated", "title", "7.1"],
  ["flight_status", "The status of a flight", "flight", "on time"],
  ["flower_season", "When a flower blooms", "flower", "May"],
  ["hotel_price", "What a night in a hotel costs", "hotel", "95"],
  ["image_size", "The size of an image", "path", "800 x 600"],
  ["library_hours", "When a library is open", "library", "10 to 18"],
  ["menu_of", "The menu of a restaurant", "restaurant", "soup"],
  ["moon_phase", "The phase of the moon on a date", "date", "waning"],
  ["museum_ticket", "What the ticket of a museum costs", "museum", "12"],
  ["parking_free", "How many places a car park has free", "car_park", "31"],
  ["pollen_level", "How much pollen there is in a city", "city", "low"],
  ["postage_for", "The postage of a letter", "weight", "1.10"],
  ["recipe_for", "The recipe of a dish", "dish", "boil and stir"],
  ["river_level", "How high a river is", "river", "2.4 m"],
  ["share_price", "What a share costs", "share", "18.2"],
  ["sunrise_in", "When the sun rises in a city", "city", "06:31"],
  ["tide_at", "The tide at a harbour", "harbour", "ebb"],
  ["train_platform", "The platform of a train", "train", "5"],
  ["water_temperature", "How warm the water of a lake is", "lake", "17"],
];

/** Thirty tools: more than a small model can keep in mind. */
export const catalogue: readonly Tool[] = rows.map(([name, description, argument, result]) =>
  pure(name, description, { properties: { [argument]: { type: "string" } }, execute: () => result }),
);

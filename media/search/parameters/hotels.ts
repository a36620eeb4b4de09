// Parameters of hotels: the nights, the guests, and what it may cost. The query is the place.
import type { HotelParameters } from '../contract.ts';
import { dayMs, isoDay, takeDay } from './days.ts';
import { defaultDay } from './flights.ts';
import { takeCurrency, takeList, takeWhole, takeWord } from './forms.ts';
import { assume, type Parameters, refuse } from './given.ts';

const nightsMax = 30;
const adultsDefault = 2;
const adultsMax = 20;
const childrenMax = 10;
const ageMax = 17;
const priceMax = 1_000_000;
const orders = ['relevance', 'price', 'rating', 'reviews'] as const;

export function readHotels(parameters: Parameters): HotelParameters {
  const { checkIn, checkOut } = readNights(parameters);
  const ages = readAges(parameters);
  const minPrice = takeWhole(parameters, 'min_price', 0, priceMax);
  const maxPrice = takeWhole(parameters, 'max_price', 1, priceMax);
  if (minPrice !== null && maxPrice !== null && minPrice > maxPrice) {
    refuse(parameters, 'max_price', 'no less than min_price');
  }
  return {
    checkInDate: isoDay(checkIn),
    checkOutDate: isoDay(checkOut),
    adults:
      takeWhole(parameters, 'adults', 1, adultsMax) ?? assume(parameters, 'adults', adultsDefault),
    children: readChildren(parameters, ages),
    childrenAges: ages,
    currency: takeCurrency(parameters) ?? assume(parameters, 'currency', 'USD'),
    minPrice,
    maxPrice,
    sortBy: takeWord(parameters, 'sort_by', orders),
  };
}

function readNights(parameters: Parameters): { checkIn: number; checkOut: number } {
  const checkIn = takeDay(parameters, 'check_in_date') ?? defaultDay(parameters, 'check_in_date');
  const given = takeDay(parameters, 'check_out_date');
  if (given === null) {
    const checkOut = checkIn + dayMs;
    assume(parameters, 'check_out_date', isoDay(checkOut));
    return { checkIn, checkOut };
  }
  const nights = (given - checkIn) / dayMs;
  if (nights < 1 || nights > nightsMax) {
    refuse(parameters, 'check_out_date', `a date 1 to ${nightsMax} nights after check_in_date`);
  }
  return { checkIn, checkOut: given };
}

function readAges(parameters: Parameters): number[] {
  const list = takeList(parameters, 'children_ages') ?? [];
  const ages = list.map((age) => (age === true || age === false ? -1 : Number(age)));
  const isGood = ages.length <= childrenMax && ages.every(isAge);
  if (!isGood)
    refuse(parameters, 'children_ages', `at most ${childrenMax} ages from 0 to ${ageMax}`);
  return ages;
}

function isAge(age: number): boolean {
  return Number.isInteger(age) && age >= 0 && age <= ageMax;
}

function readChildren(parameters: Parameters, ages: readonly number[]): number {
  const children = takeWhole(parameters, 'children', 0, childrenMax);
  if (children === null) return assume(parameters, 'children', ages.length);
  if (ages.length > 0 && ages.length !== children) {
    refuse(parameters, 'children_ages', 'an age for each of the children');
  }
  return children;
}

// Dates in headers (RFC 9110, 5.6.7). `Date.parse` would also read what is none of the three forms.

const days = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const month = `(?<month>${months.join('|')})`;
const time = '(?<hour>\\d\\d):(?<minute>\\d\\d):(?<second>\\d\\d)';
const forms = [
  `${days}, (?<day>\\d\\d) ${month} (?<year>\\d{4}) ${time} GMT`,
  `(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\\d\\d)-${month}-(?<year>\\d\\d) ${time} GMT`,
  `${days} ${month} (?<day>[ \\d]\\d) ${time} (?<year>\\d{4})`,
].map((form) => new RegExp(`^${form}$`));

/** The moment in milliseconds; null where the text is no date of HTTP. */
export function parseHttpDate(text: string): number | null {
  for (const form of forms) {
    const parts = form.exec(text)?.groups;
    if (parts === undefined) continue;
    const { day = '', year = '', month: name = '', hour = '', minute = '', second = '' } = parts;
    // A second may be a leap second.
    if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return null;
    const midnight = new Date(0);
    midnight.setUTCFullYear(fullYear(year), months.indexOf(name), Number(day));
    if (midnight.getUTCDate() !== Number(day)) return null;
    return midnight.getTime() + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000;
  }
  return null;
}

/** As it is sent. */
export function httpDate(ms: number): string {
  return new Date(ms).toUTCString();
}

/** More than 50 years ahead are meant as the past. */
function fullYear(digits: string): number {
  if (digits.length === 4) return Number(digits);
  const now = new Date().getUTCFullYear();
  const year = now - (now % 100) + Number(digits);
  if (year > now + 50) return year - 100;
  return year < now - 49 ? year + 100 : year;
}

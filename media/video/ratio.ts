// Ratios of width to height as requests name them, and the nearest one to what a file has.

const listed = {
  '21:9': 21 / 9,
  '16:9': 16 / 9,
  '4:3': 4 / 3,
  '1:1': 1,
  '3:4': 3 / 4,
  '9:16': 9 / 16,
} as const;

export type ListedRatio = keyof typeof listed;

/** Farther off than this is worth telling. */
const toleratedShare = 0.05;

/** Compared as factors: 4:3 is as far from 1:1 as 3:4. */
export function nearestRatio(width: number, height: number): ListedRatio {
  const distance = (ratio: ListedRatio) => Math.abs(Math.log(width / height / listed[ratio]));
  const ratios = Object.keys(listed) as ListedRatio[];
  return ratios.reduce((best, each) => (distance(each) < distance(best) ? each : best));
}

export function isRatioOff(width: number, height: number, asked: ListedRatio): boolean {
  return Math.abs(width / height / listed[asked] - 1) > toleratedShare;
}

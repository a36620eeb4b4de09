// A histogram in the data model of Prometheus that costs an observation a few additions: the
// library's turns the bound of a bucket into a text at each one, which was 1 % of a short request.
// https://prometheus.io/docs/concepts/metric_types/#histogram
import type prometheus from 'prom-client';

type MetricJson = prometheus.MetricObjectWithValues<prometheus.MetricValue<string>>;
type Value = MetricJson['values'][number] & { metricName: string };

export interface HistogramOptions {
  name: string;
  help: string;
  /** Upper bounds, ascending; the one without a bound is added. */
  bounds: readonly number[];
  /** Absent: there are no labels, and `label` is not given. */
  labelName?: string;
}

interface Series {
  /** One for each bound and one for what is above the last; not cumulative. */
  counts: number[];
  sum: number;
}

export class Histogram {
  readonly #options: HistogramOptions;
  readonly #series = new Map<string, Series>();

  constructor(options: HistogramOptions) {
    this.#options = options;
    // Without labels there is one series from the beginning, which says zero.
    if (options.labelName === undefined) this.#open('');
  }

  observe(value: number, label = ''): void {
    const series = this.#series.get(label) ?? this.#open(label);
    const { bounds } = this.#options;
    let index = 0;
    while (index < bounds.length && value > (bounds[index] ?? 0)) index += 1;
    series.counts[index] = (series.counts[index] ?? 0) + 1;
    series.sum += value;
  }

  /** As the library's registry writes one of its own. */
  toJson(): MetricJson {
    const { name, help, bounds, labelName } = this.#options;
    const values: Value[] = [];
    for (const [label, { counts, sum }] of this.#series) {
      const labels = labelName === undefined ? {} : { [labelName]: label };
      let total = 0;
      const bucket = (le: number | string, count: number): void => {
        total += count;
        values.push({ labels: { le, ...labels }, value: total, metricName: `${name}_bucket` });
      };
      bounds.forEach((bound, index) => {
        bucket(bound, counts[index] ?? 0);
      });
      bucket('+Inf', counts[bounds.length] ?? 0);
      values.push({ labels, value: sum, metricName: `${name}_sum` });
      values.push({ labels, value: total, metricName: `${name}_count` });
    }
    const told = { name, help, type: 'histogram', aggregator: 'sum', values };
    return told as unknown as MetricJson;
  }

  #open(label: string): Series {
    const series = { counts: [...this.#options.bounds, 0].map(() => 0), sum: 0 };
    this.#series.set(label, series);
    return series;
  }
}

// The metrics of one thread: what is counted is declared here, by the kernel and by each domain.
// Gauges are read when somebody collects, so that they cost nothing before.
import prometheus from 'prom-client';
import { Histogram, type HistogramOptions } from './histogram.ts';

const { Counter, Gauge, Registry } = prometheus;

/** The registry of one thread as plain data, to be sent to the main thread. */
export type MetricsJson = prometheus.MetricObjectWithValues<prometheus.MetricValue<string>>[];

/** A gauge that is read at each collection. */
type Watched = readonly [name: string, help: string, read: () => number];

export class MetricsRegistry {
  /** For metrics of the library itself. */
  readonly all: InstanceType<typeof Registry>[] = [new Registry()];
  /** Beside the library's, and told in one list with them. */
  readonly #histograms: Histogram[] = [];

  histogram(options: HistogramOptions): Histogram {
    const made = new Histogram(options);
    this.#histograms.push(made);
    return made;
  }

  /** Counts by label values in a plain map, which is written out when somebody collects. */
  counter(
    name: string,
    help: string,
    labelNames: readonly string[],
  ): (...values: (string | number)[]) => void {
    const add = this.sum(name, help, labelNames);
    return (...values) => add(1, ...values);
  }

  /** Sums amounts by label values, likewise. */
  sum(
    name: string,
    help: string,
    labelNames: readonly string[],
  ): (by: number, ...values: (string | number)[]) => void {
    const counts = new Map<string, number>();
    new Counter({
      name,
      help,
      labelNames: [...labelNames],
      registers: this.all,
      collect() {
        this.reset();
        for (const [key, count] of counts) {
          const values = key.split('\n');
          const labels = labelNames.map((label, index) => [label, values[index] ?? '']);
          this.inc(Object.fromEntries(labels), count);
        }
      },
    });
    return (by, ...values) => {
      const key = values.join('\n');
      counts.set(key, (counts.get(key) ?? 0) + by);
    };
  }

  /** A number that goes up and down. */
  gauge(name: string, help: string): (by: number) => void {
    const made = new Gauge({ name, help, registers: this.all });
    return (by) => made.inc(by);
  }

  /** Gauges that are read at each collection. */
  watch(gauges: readonly Watched[]): void {
    for (const [name, help, read] of gauges) {
      new Gauge({
        name,
        help,
        registers: this.all,
        collect() {
          this.set(read());
        },
      });
    }
  }

  async collect(): Promise<MetricsJson> {
    const [own] = this.all;
    const others = (await own?.getMetricsAsJSON()) ?? [];
    return [...this.#histograms.map((each) => each.toJson()), ...others];
  }
}

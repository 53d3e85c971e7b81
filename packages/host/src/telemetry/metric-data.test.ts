import { DataPointType } from '@opentelemetry/sdk-metrics'
import { expect, test } from 'vitest'
import { metricDataOf } from './metric-data.js'
import { readPrometheusText } from './prometheus-text.js'

test('counters, gauges and histograms keep their values, labels and help', () => {
  const route = '/v1/"quoted"\\path\nline'
  const label = 'route="/v1/\\"quoted\\"\\\\path\\nline"'
  const families = readPrometheusText(`# HELP answers_total help of answers_total
# TYPE answers_total counter
answers_total{${label}} 3

# HELP wait_seconds help of wait_seconds
# TYPE wait_seconds gauge
wait_seconds{${label}} 1.5

# HELP took_seconds help of took_seconds
# TYPE took_seconds histogram
took_seconds_bucket{le="1",${label}} 2
took_seconds_bucket{le="5",${label}} 3
took_seconds_bucket{le="+Inf",${label}} 4
took_seconds_sum{${label}} 13.1
took_seconds_count{${label}} 4
`)
  const data = families.map((family) => metricDataOf(family, [1, 0], [2, 0]))
  expect(data.map(({ descriptor }) => descriptor)).toMatchObject([
    { name: 'answers_total', description: 'help of answers_total', unit: '' },
    { name: 'wait_seconds', unit: 's' },
    { name: 'took_seconds', unit: 's' },
  ])
  expect(data).toMatchObject([
    { dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: [{ attributes: { route }, value: 3 }] },
    { dataPointType: DataPointType.GAUGE, dataPoints: [{ attributes: { route }, value: 1.5 }] },
    {
      dataPointType: DataPointType.HISTOGRAM,
      dataPoints: [
        {
          attributes: { route },
          startTime: [1, 0],
          endTime: [2, 0],
          value: { buckets: { boundaries: [1, 5], counts: [2, 1, 1] }, count: 4, sum: 13.1 },
        },
      ],
    },
  ])
})

test('a metric without samples, a comment and a line of another metric are left out', () => {
  const text = '# HELP empty nothing\n# TYPE empty gauge\n# TYPE one gauge\none 1\nother 2\n# a comment\n\n'
  expect(readPrometheusText(text)).toEqual([
    { name: 'one', help: '', type: 'gauge', samples: [{ name: 'one', labels: {}, value: 1 }] },
  ])
})

import { figure, timeText } from '../data/text.js'

const WIDTH = 150
const HEIGHT = 28

interface Point {
  readonly at: string
  readonly value: number
}

/** A line of past figures. Its ends and its highest value are read out, since the line cannot be. */
export function Trend({ points, name }: { points: readonly Point[]; name: string }) {
  const [first] = points
  const last = points.at(-1)
  if (first === undefined || last === undefined) return <span className="quiet">no sample yet</span>
  const highest = Math.max(...points.map(({ value }) => value))
  const [fromMs, toMs] = [Date.parse(first.at), Date.parse(last.at)]
  const placeOf = ({ at, value }: Point) => {
    const across = toMs === fromMs ? 1 : (Date.parse(at) - fromMs) / (toMs - fromMs)
    const up = highest === 0 ? 0 : value / highest
    return `${(across * WIDTH).toFixed(1)},${(HEIGHT - 1 - up * (HEIGHT - 2)).toFixed(1)}`
  }
  const label = `${name} since ${timeText(first.at)}: at most ${figure(highest)}, now ${figure(last.value)}`
  return (
    <figure className="trend">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
        <title>{label}</title>
        <polyline points={points.map(placeOf).join(' ')} />
      </svg>
      <figcaption className="quiet">at most {figure(highest)}</figcaption>
    </figure>
  )
}

import { figure } from '../data/text.js'

interface SectionBarProps {
  readonly sections: readonly { readonly name: string; readonly tokens: number; readonly count: number }[]
  readonly budget: number
  /** Of the region; two bars on one screen need two. */
  readonly name?: string
}

/** The tokens of each section beside the free ones; the table holds the figures. */
export function SectionBar({ sections, budget, name = 'Tokens by section' }: SectionBarProps) {
  const filled = sections.filter(({ tokens }) => tokens > 0)
  const used = filled.reduce((sum, { tokens }) => sum + tokens, 0)
  const free = Math.max(0, budget - used)
  const parts = [...filled.map(({ name, tokens }) => ({ name, tokens })), { name: 'free', tokens: free }]
  return (
    <section aria-label={name} className="sections">
      <div className="section-bar" aria-hidden="true">
        {parts.map(({ name, tokens }) => (
          <span key={name} data-section={name} style={{ flexGrow: tokens }} />
        ))}
      </div>
      <ul className="legend">
        {parts.map(({ name, tokens }) => (
          <li key={name}>
            <span className="swatch" data-section={name} aria-hidden="true" /> {name} <strong>{figure(tokens)}</strong>{' '}
            <span className="quiet">{((100 * tokens) / Math.max(budget, 1)).toFixed(1)} %</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

import { type ContextResult, hiddenReasons, type ReceiptEntry } from '@heddle/contracts'
import { oneLine, safeText } from '../../output/safe-text.js'
import { formatCount, type Line, tableLines } from '../../output/table.js'

/** A context for people: its tokens by section, and its messages by mode. */
export function contextLines(result: ContextResult): Line[] {
  const { receipt } = result
  const rows = receipt.sections.map((section) => [
    section.name,
    formatCount(section.count),
    formatCount(section.tokens),
  ])
  const messages = receipt.sections.reduce((sum, section) => sum + section.count, 0)
  const saved = receipt.tokensRaw - result.tokensUsed
  return [
    `context ${result.id}`,
    `thread ${safeText(result.thread)} · agent ${safeText(result.agent)} · ${result.strategy} · ${result.format}${fillText(receipt)}`,
    '',
    ...tableLines(
      [{ title: 'section' }, { title: 'messages', align: 'right' }, { title: 'tokens', align: 'right' }],
      [...rows, ['total', formatCount(messages), formatCount(result.tokensUsed)]],
    ),
    '',
    `${formatCount(result.tokensUsed)} of ${formatCount(result.budget)} tokens used; all ${formatCount(receipt.eligible)} eligible messages verbatim would be ${formatCount(receipt.tokensRaw)}${saved > 0 ? ` (${formatCount(saved)} saved)` : ''}`,
    `eligible ${formatCount(receipt.eligible)} / imported ${formatCount(receipt.imported)}${ineligibleText(receipt.ineligible)}`,
    `messages: ${fateText(receipt.entries)}`,
    ...iterationLines(receipt),
    ...turnLines(result),
    ...receipt.notes.map((note) => `note: ${safeText(note)}`),
  ]
}

/** How the budget was filled; contexts built by earlier versions lack this field. */
export function fillText({ fill }: ContextResult['receipt']): string {
  return fill === undefined ? '' : ` · fill: ${fill}`
}

const SHOWN_CHARACTERS = 160

/** The note that the window hides every message of the threads; null for a context that shows some. */
export function nothingShown({
  receipt: { eligible, ineligible, notes },
}: Pick<ContextResult, 'receipt'>): string | null {
  const isHidden = hiddenReasons.some((reason) => (ineligible[reason] ?? 0) > 0)
  return isHidden && eligible === 0 ? (notes[0] ?? null) : null
}

/** The messages for the model, one per line. */
export function messageLines(result: ContextResult): string[] {
  const system = result.system === null ? [] : [`system: ${oneLine(systemText(result.system), SHOWN_CHARACTERS)}`]
  const lines = result.messages.map((message) => {
    const { role, content, ...rest } = message
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    const more = Object.keys(rest).length === 0 ? '' : ` ${JSON.stringify(rest)}`
    return `${String(role)}: ${oneLine(`${text}${more}`, SHOWN_CHARACTERS)}`
  })
  return ['', ...system, ...lines]
}

function ineligibleText(ineligible: Readonly<Record<string, number>>): string {
  const parts = Object.entries(ineligible).filter(([, count]) => count > 0)
  return parts.length === 0 ? '' : ` (left out: ${parts.map(([reason, count]) => `${count} ${reason}`).join(', ')})`
}

/** Printed only if the agent or the thread has a limit. */
function turnLines({ turns }: ContextResult): string[] {
  return turns?.max == null ? [] : [`chat turns: ${formatCount(turns.taken)} of ${formatCount(turns.max)}`]
}

/** `iterations: 7 covered, 3 raw, 2 left-out`, then the reason for each that was left out. */
function iterationLines({ iterations, entries }: ContextResult['receipt']): string[] {
  if (iterations === undefined) return []
  const modes = new Map<string, number>()
  for (const { mode, iterations: count = 0 } of entries) if (count > 0) modes.set(mode, (modes.get(mode) ?? 0) + count)
  const parts = [...modes].map(([mode, count]) => `${formatCount(count)} ${mode}`)
  const leftOut = entries.filter(({ mode, iterations: count = 0 }) => mode === 'left-out' && count > 0)
  return [
    `iterations: ${parts.length === 0 ? 'none' : parts.join(', ')}`,
    ...leftOut.map(({ fromIteration, toIteration, iterations: count = 0, reason }) => {
      const which = fromIteration === undefined ? formatCount(count) : `${fromIteration}-${toIteration}`
      return `left out: iterations ${which}, ${reason}`
    }),
  ]
}

/** The number of messages by mode: `120 covered, 14 raw, 9 condensed`. */
export function fateText(entries: readonly ReceiptEntry[]): string {
  const counts = countByMode(entries)
  if (counts.size === 0) return 'none'
  return [...counts]
    .sort((left, right) => right[1] - left[1])
    .map(([mode, count]) => `${formatCount(count)} ${mode}`)
    .join(', ')
}

export function countByMode(entries: readonly ReceiptEntry[]): Map<ReceiptEntry['mode'], number> {
  const counts = new Map<ReceiptEntry['mode'], number>()
  for (const entry of entries) {
    if (entry.count > 0) counts.set(entry.mode, (counts.get(entry.mode) ?? 0) + entry.count)
  }
  return counts
}

function systemText(system: NonNullable<ContextResult['system']>): string {
  return typeof system === 'string' ? system : system.map((block) => block.text).join('\n\n')
}

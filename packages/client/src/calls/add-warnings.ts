import type { AppendWarning } from '@heddle/contracts'

/** Merges the warnings of several requests of one append. */
export function addWarnings(
  before: readonly AppendWarning[] = [],
  after: readonly AppendWarning[] = [],
): readonly AppendWarning[] {
  const reasons = new Map(before.map((warning) => [warning.reason, warning]))
  for (const warning of after) {
    const count = (reasons.get(warning.reason)?.count ?? 0) + warning.count
    reasons.set(warning.reason, { ...warning, count })
  }
  return [...reasons.values()]
}

/**
 * Indices of a longest increasing subsequence: entries outside it have moved past others.
 *
 * @param values distinct numbers
 */
export function longestRising(values: readonly number[]): Set<number> {
  // By length, the index of the smallest value with which an increasing subsequence of that length ends.
  const ends: number[] = []
  const previous: (number | undefined)[] = []
  for (const [place, value] of values.entries()) {
    let low = 0
    let high = ends.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((values[ends[middle] ?? 0] ?? 0) < value) low = middle + 1
      else high = middle
    }
    previous[place] = ends[low - 1]
    ends[low] = place
  }
  const rising = new Set<number>()
  for (let place = ends.at(-1); place !== undefined; place = previous[place]) rising.add(place)
  return rising
}

/**
 * The n-th largest of some numbers, from 1, by Hoare's selection: it visits each a few times, while sorting all of them
 * would take most of the time of a search. Reorders the numbers.
 *
 * @param n at most the number of values, none of which is NaN
 */
export function nthLargest(values: Float64Array, n: number): number {
  const wanted = values.length - n
  let [from, to] = [0, values.length - 1]
  while (from < to) {
    const pivot = at(values, (from + to) >> 1)
    let [left, right] = [from, to]
    while (left <= right) {
      while (at(values, left) < pivot) left++
      while (at(values, right) > pivot) right--
      if (left > right) break
      const swapped = at(values, left)
      values[left++] = at(values, right)
      values[right--] = swapped
    }
    if (wanted <= right) to = right
    else if (wanted >= left) from = left
    else break
  }
  return at(values, wanted)
}

function at(values: Float64Array, index: number): number {
  return values[index] as number
}

import { NIL_ID } from '@heddle/core'
import type { Store } from '../store.js'

/**
 * Acquires the lease for work that one process at a time may do, and at most once per interval. The clock is that of the
 * database, which all processes share. A lease is never released: it expires after the interval, so a killed process blocks
 * nobody for longer.
 *
 * @param name of the work, for all projects together
 * @returns null if this process now holds the lease, otherwise how many milliseconds ago it was last acquired
 */
export async function acquireLease(
  store: Store,
  { name, apartMs }: { name: string; apartMs: number },
): Promise<number | null> {
  return await store.inProject(NIL_ID, async (tx) => {
    const { count } = await tx`
      insert into heddle.turns as turn (name, taken_at) values (${name}, now())
      on conflict (project_id, name) do update set taken_at = now()
      where turn.taken_at <= now() - ${apartMs}::double precision * interval '1 millisecond'
        -- The clock was set back: a lease from the future is expired.
        or turn.taken_at > now() + ${apartMs}::double precision * interval '1 millisecond'`
    if (count === 1) return null
    const [turn] = await tx<{ sinceMs: number }[]>`
      select greatest(0, extract(epoch from now() - taken_at)::double precision * 1000) as since_ms
      from heddle.turns where name = ${name}`
    return turn?.sinceMs ?? 0
  })
}

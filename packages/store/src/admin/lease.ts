import { NIL_ID } from '@heddle/core'
import type { Store } from '../store.js'

/**
 * Takes a turn of what one process at a time is to do, and no more often than some time apart: by the clock of the database,
 * which is the same for all of them. Nobody has to give it back, so that a process that was killed keeps nobody waiting for
 * longer than that.
 *
 * @param name what is done, for all projects together
 * @returns null where this process is to do it now, else how many milliseconds ago the last turn was taken
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
        -- The clock was set back.
        or turn.taken_at > now() + ${apartMs}::double precision * interval '1 millisecond'`
    if (count === 1) return null
    const [turn] = await tx<{ sinceMs: number }[]>`
      select greatest(0, extract(epoch from now() - taken_at)::double precision * 1000) as since_ms
      from heddle.turns where name = ${name}`
    return turn?.sinceMs ?? 0
  })
}

import { readFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'

/**
 * The session that `heddle demo` replays, in Claude Code's format. It is compressed because it quotes sources
 * of Heddle, which a search of the repository would otherwise find twice.
 */
export async function readRecordedSession(): Promise<string> {
  const compressed = await readFile(new URL('../../assets/demo-session.jsonl.gz', import.meta.url))
  return gunzipSync(compressed).toString('utf8')
}

import { writeFile } from 'node:fs/promises'
import { decisionsIndex, decisionsIndexPath } from './decisions.js'

await writeFile(decisionsIndexPath, decisionsIndex())

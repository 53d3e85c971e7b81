import { writeFile } from 'node:fs/promises'
import { requirementsPage, requirementsPagePath } from './page.js'
import { readTexts } from './read.js'

await writeFile(requirementsPagePath, requirementsPage(readTexts()))

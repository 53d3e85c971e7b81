import { writeFile } from 'node:fs/promises'
import { chartPage, chartPagePath } from './values-page.js'

await writeFile(chartPagePath, chartPage())

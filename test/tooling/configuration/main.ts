import { writeFile } from 'node:fs/promises'
import { configurationPage, pagePath } from './page.js'

await writeFile(pagePath, configurationPage())

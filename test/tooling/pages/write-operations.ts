import { writeFile } from 'node:fs/promises'
import { operationsPage, operationsPagePath } from './operations.js'

await writeFile(operationsPagePath, operationsPage())
